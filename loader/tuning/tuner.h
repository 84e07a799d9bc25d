#pragma once
// How many threads? Measures what an image costs a worker and how fast the consumer takes images,
// goes to the number of threads that this comes to, and looks there whether it was right.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace feedrate::loader {

/// One number of threads, as measured.
struct ThreadsTried {
  unsigned threads = 0;
  double images_per_second = 0;
  double waited = 0;  // share of the time in which the consumer waited
};

/// What is known by now.
struct Tuning {
  unsigned threads = 0;  // at work now
  unsigned most = 0;     // that there may be
  bool settled = false;
  double read = 0;     // seconds of a worker for an image, as measured last …
  double decode = 0;   //
  double augment = 0;  //
  double demand = 0;   // … images/s that the consumer would take if it never waited …
  double need = 0;     // … and the workers that this keeps busy
  std::vector<ThreadsTried> tried;  // by number; a new demand starts anew

  /// The fewest threads tried that give as much as any: null before the first measurement.
  const ThreadsTried* knee() const;
  /// "3 threads keep the consumer fed …", a line.
  std::string text() const;
};

namespace detail {

/// Sums that only grow, as they stand at one moment.
struct TunerSums {
  std::uint64_t now_ns = 0;
  std::uint64_t batches = 0;  // taken
  std::uint64_t images = 0;   // of them
  std::uint64_t wait_ns = 0;  // of the consumer
  std::uint64_t filled = 0;   // images by workers
  std::uint64_t read_ns = 0;  // of workers
  std::uint64_t decode_ns = 0;
  std::uint64_t augment_ns = 0;
};

/// One thread. A measurement takes half a second or, where batches are slow, as many batches as
/// tell something; those that were filled before a move are left out.
class Tuner {
 public:
  static constexpr std::uint64_t window_ns = 500'000'000;

  /// `depth`: batches that may lie ready.
  Tuner(unsigned threads, unsigned most, unsigned depth);
  /// True when look() has something to look at: asked after each batch, it costs next to nothing.
  bool due(std::uint64_t now_ns, std::uint64_t batches) const {
    return batches >= due_batches_ && now_ns >= due_ns_;
  }
  /// The number of threads to go on with.
  unsigned look(const TunerSums& sums);
  /// There cannot be more than `most`, which work now.
  void limit(unsigned most);
  const Tuning& tuning() const { return tuning_; }

 private:
  void start_waiting(std::uint64_t now_ns, std::uint64_t batches, std::uint64_t span_ns,
                     std::uint64_t count);
  /// False where the demand has changed, and the search starts anew.
  bool measure(const TunerSums& sums);
  unsigned choose();
  unsigned predicted() const;
  const ThreadsTried* tried(unsigned threads) const;

  Tuning tuning_;
  const unsigned depth_;
  std::uint64_t due_ns_ = 0;
  std::uint64_t due_batches_ = 0;
  std::optional<TunerSums> from_;  // of the window; nothing while batches of before are left
  double settled_need_ = 0;
};

}  // namespace detail
}  // namespace feedrate::loader
