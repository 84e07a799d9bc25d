#pragma once
// How many threads? The tuner measures what an image costs a worker and how fast the consumer takes
// images, goes to the number of threads that follows from these, and checks it by measuring there.

#include <cstdint>
#include <optional>
#include <vector>

namespace feedrate::loader {

/// One number of threads and what was measured with it.
struct ThreadsTried {
  unsigned threads = 0;
  double images_per_second = 0;
  double waited = 0;  // share of the time in which the consumer waited
};

/// What the tuner has found so far.
struct Tuning {
  unsigned threads = 0;      // in use now
  unsigned max_threads = 0;  // the limit
  bool settled = false;      // the search has ended

  // As measured last.
  double read = 0;     // seconds of a worker for an image
  double decode = 0;   // the same
  double augment = 0;  // the same
  double demand = 0;   // images/s that the consumer would take if it never waited
  double need = 0;     // how many workers that demand keeps busy

  std::vector<ThreadsTried> tried;  // by number of threads; cleared when the demand changes

  /// The fewest threads tried that give as many images/s as any; null before the first measurement.
  const ThreadsTried* knee() const;
  /// What the search has come to, at the knee.
  enum class Outcome : std::uint8_t {
    too_short,  // nothing was measured
    fed,        // the consumer waits for a negligible share of the time
    at_limit,   // the consumer waits, and max_threads are at work
    no_gain,    // the consumer waits, but more threads deliver no more
  };
  Outcome outcome() const;
  /// False before the first measurement, and where the consumer does no work of its own, so that its
  /// demand has no limit.
  bool is_need_known() const;
};

namespace detail {

/// The loader's counters at one moment, since construction.
struct TunerSums {
  std::uint64_t now_ns = 0;
  std::uint64_t batches = 0;  // taken by the consumer
  std::uint64_t images = 0;   // in these
  std::uint64_t wait_ns = 0;  // of the consumer
  std::uint64_t filled = 0;   // images filled by workers
  std::uint64_t read_ns = 0;  // of the workers, like the next two
  std::uint64_t decode_ns = 0;
  std::uint64_t augment_ns = 0;
};

/// A measurement takes half a second, or longer when batches are slow: at least 2 × `depth`
/// batches. Batches filled before a change of the number of threads are not measured. One thread.
class Tuner {
 public:
  static constexpr std::uint64_t window_ns = 500'000'000;

  /// `depth`: how many batches may be ready at a time.
  Tuner(unsigned threads, unsigned max_threads, unsigned depth);
  /// Whether it is time for update(). Cheap: called after each batch.
  bool due(std::uint64_t now_ns, std::uint64_t batches) const {
    return batches >= due_batches_ && now_ns >= due_ns_;
  }
  /// Measures, and returns the number of threads to continue with.
  unsigned update(const TunerSums& sums);
  /// Continue with `max_threads` threads, and never use more.
  void limit(unsigned max_threads);
  const Tuning& tuning() const { return tuning_; }

 private:
  void start_waiting(std::uint64_t now_ns, std::uint64_t batches, std::uint64_t span_ns,
                     std::uint64_t count);
  /// False when the demand has changed and the search starts again.
  bool measure(const TunerSums& sums);
  unsigned choose();
  unsigned predicted() const;
  const ThreadsTried* tried(unsigned threads) const;

  Tuning tuning_;
  const unsigned depth_;
  std::uint64_t due_ns_ = 0;
  std::uint64_t due_batches_ = 0;
  std::optional<TunerSums> from_;  // the window's start; nothing while old batches are left
  double settled_need_ = 0;
};

}  // namespace detail
}  // namespace feedrate::loader
