#include "formats/remote/counts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

namespace feedrate::formats {

std::size_t Latencies::bucket_of(std::chrono::nanoseconds took) {
  const auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(took.count(), parts));
  const auto power = static_cast<unsigned>(std::bit_width(time)) - 1;
  const std::uint64_t part = (time >> (power - part_bits)) - parts;
  return std::min<std::size_t>(power * parts + part, buckets - 1);
}

std::optional<double> Latencies::quantile(double share) const {
  std::uint64_t all = 0;
  for (const std::uint64_t count : counts_) all += count;
  if (all == 0) return std::nullopt;
  const double wanted = std::max(1.0, share * static_cast<double>(all));
  std::size_t at = 0;
  for (std::uint64_t sum = counts_[0]; static_cast<double>(sum) < wanted; sum += counts_[at]) ++at;
  // The middle of the bucket.
  const double power = std::exp2(static_cast<double>(at / parts));
  return 1e-9 * power * (1 + (static_cast<double>(at % parts) + 0.5) / parts);
}

Latencies Latencies::since(const Latencies& earlier) const {
  Latencies difference;
  std::ranges::transform(counts_, earlier.counts_, difference.counts_.begin(), std::minus{});
  return difference;
}

RemoteCounts RemoteCounts::since(const RemoteCounts& earlier) const {
  return {.requests = requests - earlier.requests,
          .repeated = repeated - earlier.repeated,
          .bytes = bytes - earlier.bytes,
          .nanoseconds = nanoseconds - earlier.nanoseconds,
          .cpu_nanoseconds = cpu_nanoseconds - earlier.cpu_nanoseconds,
          .cached_bytes = cached_bytes - earlier.cached_bytes,
          .connections = connections,
          .cache_problem = cache_problem,
          .latencies = latencies.since(earlier.latencies)};
}

std::optional<double> RemoteCounts::seconds_per_request() const {
  const std::uint64_t whole = requests - repeated;
  if (whole == 0) return std::nullopt;
  return 1e-9 * static_cast<double>(nanoseconds) / static_cast<double>(whole);
}

std::optional<double> RemoteCounts::cpu_seconds_per_request() const {
  if (requests == 0) return std::nullopt;
  return 1e-9 * static_cast<double>(cpu_nanoseconds) / static_cast<double>(requests);
}

FetchCounters& FetchCounters::of_process() {
  static FetchCounters one;
  return one;
}

void FetchCounters::sent(unsigned connections) {
  add(requests_, 1);
  unsigned most = connections_.load(std::memory_order_relaxed);
  while (connections > most && !connections_.compare_exchange_weak(most, connections)) {
  }
}

void FetchCounters::arrived(std::uint64_t bytes, std::chrono::nanoseconds took) {
  add(bytes_, bytes);
  add(nanoseconds_, static_cast<std::uint64_t>(took.count()));
  add(latencies_[Latencies::bucket_of(took)], 1);
}

RemoteCounts FetchCounters::now() const {
  RemoteCounts counts{.requests = requests_.load(),
                      .repeated = repeated_.load(),
                      .bytes = bytes_.load(),
                      .nanoseconds = nanoseconds_.load(),
                      .cpu_nanoseconds = cpu_.load(),
                      .cached_bytes = cached_.load(),
                      .connections = connections_.load(),
                      .cache_problem = cache_problem_.load()};
  for (std::size_t i = 0; i < Latencies::buckets; ++i) {
    counts.latencies.counts_[i] = latencies_[i].load(std::memory_order_relaxed);
  }
  return counts;
}

RemoteCounts remote_counts() { return FetchCounters::of_process().now(); }

void count_cached(std::uint64_t bytes) { FetchCounters::of_process().cached(bytes); }

}  // namespace feedrate::formats
