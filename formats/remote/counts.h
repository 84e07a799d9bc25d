#pragma once
// What this process has fetched from servers, and how long the answers took.

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace feedrate::formats {

/// How many times took how long, by eighths of a power of two: a quantile is right within 6 %.
class Latencies {
 public:
  void add(std::chrono::nanoseconds took) { ++counts_[bucket_of(took)]; }
  /// The time, in seconds, that `share` of them took at most; nothing where there are none.
  std::optional<double> quantile(double share) const;
  Latencies since(const Latencies& earlier) const;

 private:
  friend class FetchCounters;
  static constexpr unsigned part_bits = 3;
  static constexpr unsigned parts = 1U << part_bits;  // of a power of two
  static constexpr std::size_t buckets = 42 * parts;  // the last one: more than an hour
  static std::size_t bucket_of(std::chrono::nanoseconds took);

  std::array<std::uint64_t, buckets> counts_{};
};

/// Since the process started, or, as a difference, since an earlier moment.
struct RemoteCounts {
  std::uint64_t requests = 0;         // sent, with those repeated
  std::uint64_t repeated = 0;         // because of a failure that may pass
  std::uint64_t bytes = 0;            // of ranges that arrived whole
  std::uint64_t nanoseconds = 0;      // between sending and the last byte, over all ranges
  std::uint64_t cpu_nanoseconds = 0;  // of the threads that fetch
  std::uint64_t cached_bytes = 0;     // read from a cache of this machine
  unsigned connections = 0;           // the most that were used at once, ever
  int cache_problem = 0;              // the system's error, ever, for which a cache kept no more
  Latencies latencies{};              // of ranges that arrived whole

  /// On average, of those that arrived; nothing where none did.
  std::optional<double> seconds_per_request() const;
  std::optional<double> cpu_seconds_per_request() const;
  RemoteCounts since(const RemoteCounts& earlier) const;
};
/// Any thread.
RemoteCounts remote_counts();
/// Counts bytes that a cache gave. Any thread.
void count_cached(std::uint64_t bytes);

/// Counts for remote_counts(). Any thread.
class FetchCounters {
 public:
  static FetchCounters& of_process();

  void sent(unsigned connections);
  void repeats() { add(repeated_, 1); }
  void arrived(std::uint64_t bytes, std::chrono::nanoseconds took);
  void worked(std::chrono::nanoseconds cpu) { add(cpu_, static_cast<std::uint64_t>(cpu.count())); }
  void cached(std::uint64_t bytes) { add(cached_, bytes); }
  /// `problem` is an error of the system.
  void not_kept(int problem) { cache_problem_.store(problem, std::memory_order_relaxed); }
  RemoteCounts now() const;

 private:
  using Count = std::atomic<std::uint64_t>;
  static void add(Count& count, std::uint64_t more) {
    count.fetch_add(more, std::memory_order_relaxed);
  }

  Count requests_{0}, repeated_{0}, bytes_{0}, nanoseconds_{0}, cpu_{0}, cached_{0};
  std::atomic<unsigned> connections_{0};
  std::atomic<int> cache_problem_{0};
  std::array<Count, Latencies::buckets> latencies_{};
};

}  // namespace feedrate::formats
