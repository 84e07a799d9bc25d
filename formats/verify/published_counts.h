#pragma once
// How many samples and classes the published datasets have.

#include <cstdint>
#include <span>
#include <string_view>

namespace feedrate::formats {

/// One split of a published set.
struct PublishedCounts {
  std::string_view source;  // as in the sidecar
  std::string_view split;
  std::string_view set;  // for people: "MNIST"
  std::uint64_t samples = 0;
  std::uint32_t classes = 0;  // those with samples
  std::uint64_t fewest = 0;   // samples of a class
  std::uint64_t most = 0;
  /// Sizes of the archives that hold exactly this, in different packagings; 0 when unknown.
  std::uint64_t archive_bytes[2] = {0, 0};
};

/// All known ones; those of one source and split are adjacent.
std::span<const PublishedCounts> published_counts();

}  // namespace feedrate::formats
