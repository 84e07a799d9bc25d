#pragma once
// Work shared among OpenMP threads in a fixed way: who does what depends on sizes alone, so results
// are the same bits at every run with the same number of threads.

#include <algorithm>
#include <cstdint>

#include "formats/base/bytes.h"

namespace feedrate::trainer::cpu {

/// Floats in a cache line: the grain at which two threads write to no line in common.
inline constexpr std::int64_t line_floats = formats::cache_line / sizeof(float);

struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
};

/// The part of [0, size) that thread `number` of `threads` does, cut at multiples of `grain`.
constexpr Range share_of(std::int64_t size, unsigned number, unsigned threads,
                         std::int64_t grain = 1) {
  const std::int64_t grains = (size + grain - 1) / grain;
  const std::int64_t begin = grains * number / threads * grain;
  const std::int64_t end = grains * (number + 1) / threads * grain;
  return {std::min(begin, size), std::min(end, size)};
}

/// body(number) on each of `threads` threads, 0 being the caller's.
template <class Body>
void on_threads(unsigned threads, const Body& body) {
#pragma omp parallel for num_threads(threads) schedule(static, 1) if (threads > 1)
  for (unsigned number = 0; number < threads; ++number) body(number);
}

/// body(range) on shares of [0, size).
template <class Body>
void on_shares(unsigned threads, std::int64_t size, std::int64_t grain, const Body& body) {
  on_threads(threads, [&](unsigned number) {
    const Range range = share_of(size, number, threads, grain);
    if (range.size() > 0) body(range);
  });
}

}  // namespace feedrate::trainer::cpu

// Loops compiled for several instruction sets, the widest chosen at load: the binary runs on every
// x86-64, and uses AVX-512 where it is. Not under sanitizers, which run too late for the choice.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define FEEDRATE_VECTOR \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FEEDRATE_VECTOR
#endif
