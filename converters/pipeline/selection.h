#pragma once
// Which samples of a stream are converted, and in which order.

#include <cstdint>
#include <memory>
#include <optional>

#include "converters/source.h"

namespace feedrate::converters {

struct Selection {
  std::optional<std::uint64_t> shuffle = {};  // seed
  std::uint64_t limit = 0;                    // take only this many, the first; 0: all
  bool counted = false;                       // the number of samples must be known beforehand
};

/// The selected samples of a stream, each with a position. For one thread.
///
/// A shuffle is a Fisher-Yates shuffle with the random numbers of formats/base/random.h: for
/// i = size - 1 down to 1, sample i is swapped with sample below(random_bits(seed, i), i + 1). It
/// needs to seek: a stream that cannot is collected first, as views if its samples last, otherwise
/// as copies.
class SelectedStream {
 public:
  /// Throws Error if a stream that must be copied into memory holds more than 4 GiB.
  SelectedStream(std::unique_ptr<SampleStream> stream, const Selection& selection);
  ~SelectedStream();

  const StreamInfo& info() const;
  /// Number of samples selected; 0 if not known beforehand.
  std::uint64_t size() const { return size_; }
  bool lasting() const;
  std::string_view problem() const;  // see SampleStream
  /// Makes the sample at `position` the next one. A stream that cannot seek skips samples: forward
  /// only.
  void start_at(std::uint64_t position);
  bool next(formats::Sample& sample);

 private:
  std::unique_ptr<SampleStream> stream_;
  std::vector<std::uint32_t> order_;  // position → index; empty unless shuffled
  std::uint64_t limit_ = 0;           // one past the last position; 0: the stream's end
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
};

/// The permutation described above: the index of the sample at each position. Throws Error for more
/// than 2^32 samples.
std::vector<std::uint32_t> shuffled_order(std::uint64_t seed, std::uint64_t size);

}  // namespace feedrate::converters
