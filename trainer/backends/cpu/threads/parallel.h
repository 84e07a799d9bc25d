#pragma once
// Work shared among OpenMP threads in a fixed way: the shares depend only on sizes and the number
// of threads, so every run with the same number of threads gives the same bits.

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

/// The part of [0, size) of thread `number` of `threads`, cut at multiples of `grain`.
constexpr Range share_of(std::int64_t size, unsigned number, unsigned threads,
                         std::int64_t grain = 1) {
  const std::int64_t grains = (size + grain - 1) / grain;
  const std::int64_t begin = grains * number / threads * grain;
  const std::int64_t end = grains * (number + 1) / threads * grain;
  return {std::min(begin, size), std::min(end, size)};
}

/// Calls body(number) on each of `threads` threads; the caller's is number 0.
template <class Body>
void on_threads(unsigned threads, const Body& body) {
#pragma omp parallel for num_threads(threads) schedule(static, 1) if (threads > 1)
  for (unsigned number = 0; number < threads; ++number) body(number);
}

/// Calls body(range) on each thread with its share of [0, size), unless that is empty.
template <class Body>
void on_shares(unsigned threads, std::int64_t size, std::int64_t grain, const Body& body) {
  on_threads(threads, [&](unsigned number) {
    const Range range = share_of(size, number, threads, grain);
    if (range.size() > 0) body(range);
  });
}

}  // namespace feedrate::trainer::cpu

// Compiles a function for several instruction sets; the widest usable one is chosen when the
// program is loaded. So the binary runs on every x86-64 and uses AVX-512 where present. Not with
// sanitizers, which are not yet initialised when the choice is made.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define FEEDRATE_VECTOR \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FEEDRATE_VECTOR
#endif
