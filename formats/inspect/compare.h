#pragma once
// Compares two datasets by the digests of their samples.

#include <cstdint>
#include <optional>
#include <span>

#include "formats/digests/digest.h"

namespace feedrate::formats {

struct Comparison {
  std::uint64_t different = 0;  // positions where samples differ, or only one dataset has one
  std::optional<std::uint64_t> first;          // the first such position
  std::uint64_t missing = 0;                   // samples of the first dataset that the second lacks
  std::uint64_t extra = 0;                     // samples of the second that the first lacks
  std::optional<std::uint64_t> first_missing;  // the earliest, an index of the first dataset
  std::optional<std::uint64_t> first_extra;    // an index of the second

  bool equal() const { return different == 0; }
  bool same_set() const { return missing == 0 && extra == 0; }
};

/// Both in index order. Repeated samples are counted with multiplicity. A digest of zeros (a sample
/// that could not be decoded) equals no other.
Comparison compare(std::span<const Sha256> first, std::span<const Sha256> second);

}  // namespace feedrate::formats
