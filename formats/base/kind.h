#pragma once
// A kind is something the user can name: a source, format, codec, recipe, network, command …
// A registry is a plain list of pointers to kinds, in the order in which help shows them.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/error.h"

namespace feedrate::formats {

/// The name and summary of a kind. Kinds are created once, live as long as the program and are
/// read-only: safe from any thread.
class Kind {
 public:
  Kind(std::string_view name, std::string_view summary) : name_(name), summary_(summary) {}
  virtual ~Kind() = default;
  Kind(const Kind&) = delete;
  Kind& operator=(const Kind&) = delete;

  std::string_view name() const { return name_; }
  std::string_view summary() const { return summary_; }  // one sentence, without a full stop

 private:
  std::string_view name_;
  std::string_view summary_;
};

/// The name nearest to `wanted` by edit distance, or "" when none is near.
std::string_view nearest_name(std::string_view wanted, std::span<const std::string_view> names);

/// "no format 'lmbd'; there are lmdb, recordio, png-map; did you mean lmdb?"
std::string unknown_kind(std::string_view what, std::string_view wanted,
                         std::span<const std::string_view> names);

/// Throws Error, with the nearest name, when `wanted` is none of the names.
void expect_known(std::string_view what, std::string_view wanted,
                  std::span<const std::string_view> names);

template <class Row>
std::vector<std::string_view> kind_names(std::span<const Row* const> rows) {
  std::vector<std::string_view> names;
  for (const Row* row : rows) names.push_back(row->name());
  return names;
}

/// The row with that name; throws Error with the nearest name when there is none.
template <class Row>
const Row& find_kind(std::string_view what, std::string_view wanted,
                     std::span<const Row* const> rows) {
  for (const Row* row : rows) {
    if (row->name() == wanted) return *row;
  }
  throw Error(unknown_kind(what, wanted, kind_names(rows)));
}

}  // namespace feedrate::formats
