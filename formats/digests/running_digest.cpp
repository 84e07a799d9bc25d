#include "formats/digests/running_digest.h"

namespace feedrate::formats {

RunningDigest::RunningDigest(std::filesystem::path directory) : sorted_(std::move(directory)) {}

void RunningDigest::add(const SampleDigests& sample) {
  stored_.add(sample.stored);
  if (sample.pixels == Sha256{}) sorted_.reset();
  if (!sorted_) return;
  ordered_.add(sample.pixels);
  sorted_->add(sample.pixels);
}

RunningDigest::Result RunningDigest::finish() {
  Result result{.pixels = {}, .stored = hex(stored_.finish())};
  if (sorted_) result.pixels = {hex(ordered_.finish()), hex(sorted_->finish())};
  return result;
}

}  // namespace feedrate::formats
