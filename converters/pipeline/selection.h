#pragma once
// Which samples of a stream are converted, and in which order.

#include <cstdint>
#include <memory>
#include <optional>

#include "converters/source.h"

namespace feedrate::converters {

struct Selection {
  std::optional<std::uint64_t> shuffle = {};  // seed
  std::uint64_t limit = 0;                    // of all samples, the first so many; 0: all
  bool counted = false;                       // the number of samples must be known beforehand
};

/// The stream's samples as selected, every sample having a position. One thread.
///
/// A shuffle is Fisher and Yates's with the random numbers of formats/base/random.h: for i = size - 1
/// down to 1, sample i changes places with sample below(random_bits(seed, i), i + 1). It needs any
/// sample at any time: a stream that cannot seek is collected first, as views where its samples
/// last, in memory where they do not.
class SelectedStream {
 public:
  /// Throws Error when a stream that must be collected in memory holds more than 4 GiB.
  SelectedStream(std::unique_ptr<SampleStream> stream, const Selection& selection);
  ~SelectedStream();

  const StreamInfo& info() const;
  /// Samples selected; 0 when that is not known yet.
  std::uint64_t size() const { return size_; }
  bool lasting() const;
  std::string_view problem() const;  // as the stream's
  /// The next sample is the one at `position`. Passes over samples where the stream cannot seek:
  /// forward only.
  void start_at(std::uint64_t position);
  bool next(formats::Sample& sample);

 private:
  std::unique_ptr<SampleStream> stream_;
  std::vector<std::uint32_t> order_;  // of a shuffle: position → index
  std::uint64_t limit_ = 0;           // one past the last position; 0: the stream's end
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
};

/// The permutation described above: which sample stands at each position. Throws Error for more
/// than 2^32 samples.
std::vector<std::uint32_t> shuffled_order(std::uint64_t seed, std::uint64_t size);

}  // namespace feedrate::converters
