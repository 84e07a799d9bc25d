#include "formats/inspect/compare.h"

#include <algorithm>

namespace feedrate::formats {
namespace {

constexpr Sha256 not_decoded{};  // equals nothing, not even itself

void note(std::uint64_t index, std::uint64_t& count, std::optional<std::uint64_t>& earliest) {
  ++count;
  if (!earliest || index < *earliest) earliest = index;
}

void compare_positions(std::span<const Sha256> first, std::span<const Sha256> second,
                       Comparison& result) {
  const std::size_t longest = std::max(first.size(), second.size());
  for (std::size_t i = 0; i < longest; ++i) {
    const bool both = i < first.size() && i < second.size();
    if (!both || first[i] != second[i] || first[i] == not_decoded)
      note(i, result.different, result.first);
  }
}

// Walks both in sorted order, side by side, for what only one of them has.
void compare_sets(std::span<const Sha256> first, std::span<const Sha256> second,
                  Comparison& result) {
  const std::vector<std::uint64_t> a = sorted_order(first);
  const std::vector<std::uint64_t> b = sorted_order(second);
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && first[a[i]] < second[b[j]])) {
      note(a[i++], result.missing, result.first_missing);
    } else if (i == a.size() || second[b[j]] < first[a[i]]) {
      note(b[j++], result.extra, result.first_extra);
    } else {
      if (first[a[i]] == not_decoded) {
        note(a[i], result.missing, result.first_missing);
        note(b[j], result.extra, result.first_extra);
      }
      ++i;
      ++j;
    }
  }
}

}  // namespace

Comparison compare(std::span<const Sha256> first, std::span<const Sha256> second) {
  Comparison result;
  compare_positions(first, second, result);
  if (!result.equal()) compare_sets(first, second, result);
  return result;
}

}  // namespace feedrate::formats
