#pragma once
// How two datasets differ, told from the digests of their samples.

#include <cstdint>
#include <optional>
#include <span>

#include "formats/digests/digest.h"

namespace feedrate::formats {

struct Comparison {
  std::uint64_t different = 0;         // positions whose samples differ, or that only one has
  std::optional<std::uint64_t> first;  // of them
  std::uint64_t missing = 0;           // samples of the first dataset that the second has not
  std::uint64_t extra = 0;             // samples of the second that the first has not
  std::optional<std::uint64_t> first_missing;  // the earliest, an index of the first dataset
  std::optional<std::uint64_t> first_extra;    // an index of the second

  bool equal() const { return different == 0; }
  bool same_set() const { return missing == 0 && extra == 0; }
};

/// Samples that repeat count as often as they are there; a digest of zeros (a sample that could not
/// be decoded) equals none. Each in index order.
Comparison compare(std::span<const Sha256> first, std::span<const Sha256> second);

}  // namespace feedrate::formats
