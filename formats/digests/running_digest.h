#pragma once
// The digests of a dataset while it is being written, from those of its samples.

#include <filesystem>
#include <optional>
#include <string>

#include "formats/digests/digest.h"
#include "formats/digests/sorted_digest.h"

namespace feedrate::formats {

/// What a journal keeps of a sample; its bytes are those of the two, one after the other.
struct SampleDigests {
  StoredDigest stored{};
  Sha256 pixels{};  // sample_digest; zero if the sample was not decoded
  bool operator==(const SampleDigests&) const = default;
};
static_assert(sizeof(SampleDigests) == sizeof(StoredDigest) + sizeof(Sha256));

/// One thread. Its memory is that of a SortedDigest, whose file lies in `directory`.
class RunningDigest {
 public:
  struct Result {
    DatasetDigest pixels;  // empty unless all samples were decoded
    std::string stored;    // bytes_digest
  };

  explicit RunningDigest(std::filesystem::path directory);
  /// The next sample, in index order.
  void add(const SampleDigests& sample);
  /// Call it once.
  Result finish();

 private:
  Hasher stored_;
  Hasher ordered_;
  std::optional<SortedDigest> sorted_;  // nothing once a sample was not decoded
};

}  // namespace feedrate::formats
