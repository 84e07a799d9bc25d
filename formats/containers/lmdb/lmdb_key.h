#pragma once
// Keys as Caffe's tools write them: "00000042", or "00000042_path" with the path of the image.
// Stateless.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/base/text.h"

namespace feedrate::formats {

struct LmdbKey {
  std::uint64_t number = 0;
  int digits = 0;
  std::string_view name;  // empty for bare digits
};

/// Nothing for a key of another form.
inline std::optional<LmdbKey> parse_lmdb_key(std::string_view key) {
  const auto end =
      std::find_if_not(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
  const auto digits = static_cast<std::size_t>(end - key.begin());
  const auto number = parse_number<std::uint64_t>(key.substr(0, digits));
  if (!number || (digits < key.size() && key[digits] != '_')) return std::nullopt;
  return LmdbKey{*number, static_cast<int>(digits),
                 digits < key.size() ? key.substr(digits + 1) : std::string_view()};
}

/// The path in a key, empty for bare digits; a key of another form is a name itself.
inline std::string_view name_in_lmdb_key(std::string_view key) {
  const auto parsed = parse_lmdb_key(key);
  return parsed ? parsed->name : key;
}

}  // namespace feedrate::formats
