#include "formats/base/kind.h"

#include <algorithm>
#include <numeric>

namespace feedrate::formats {
namespace {

// Edit distance in which a swap of neighbours counts as one: "lmbd" is one step from "lmdb".
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view wanted, std::span<const std::string_view> names) {
  // A guess more than a third of the word away misleads; two slips are always allowed.
  std::size_t best = std::max<std::size_t>(2, wanted.size() / 3) + 1;
  std::string_view nearest;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(wanted, name);
    if (distance < best && distance < name.size()) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

std::string unknown_kind(std::string_view what, std::string_view wanted,
                         std::span<const std::string_view> names) {
  std::string message = join("no ", what, " '", wanted, "'; there are ");
  for (std::size_t i = 0; i < names.size(); ++i) {
    message += join(i == 0 ? "" : ", ", names[i]);
  }
  const std::string_view nearest = nearest_name(wanted, names);
  if (!nearest.empty()) message += join("; did you mean ", nearest, "?");
  return message;
}

}  // namespace feedrate::formats
