#pragma once
// What `--encode` says: keep | raw | png | jpeg[:QUALITY].

#include <string>
#include <string_view>

#include "formats/codec.h"

namespace feedrate::formats {

struct Encoding {
  const Codec* codec = nullptr;  // null: keep, every sample stays in the bytes it came in
  int quality = 0;               // 1 … 100, 0 the codec's default

  bool keeps() const { return codec == nullptr; }
  std::string name() const;  // as on the command line
};

/// Throws Error for an unknown codec, a quality that the codec does not have or out of 1 … 100.
Encoding parse_encoding(std::string_view text);

}  // namespace feedrate::formats
