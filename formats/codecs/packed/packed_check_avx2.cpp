// Walks over blocks without unpacking them. Where the next block begins is known only at the end of
// this one, so a walk waits for its loads; those of several runs, in turn, wait together.

#include <immintrin.h>

#include <algorithm>
#include <array>

#include "formats/codecs/packed/packed_check.h"
#include "formats/codecs/packed/packed_head.h"

#define FEEDRATE_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

namespace feedrate::formats {
namespace {

// A walk through a run whose end is followed by block_slack bytes that may be read.
struct Walk {
  const std::byte* at;
  const std::byte* end;
  unsigned faults = 0;
};

// Goes behind a block. Where it is none, notes that, and goes anywhere within max_block_bytes and a
// few bytes more. `walk.at` is in front of the end.
FEEDRATE_AVX2 inline void step(Walk& walk) {
  const BlockHead head(*walk.at);
  walk.at += 1 + head.mean_bytes();
  const std::uint64_t which = _bzhi_u64(load_le<std::uint64_t>(walk.at), 8 * head.which_bytes());
  walk.at += head.which_bytes();
  const auto nonzero = static_cast<unsigned>(_mm_popcnt_u64(which));
  const __m256i pairs = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(walk.at));
  const __m256i low = _mm256_and_si256(pairs, _mm256_set1_epi8(0x0f));
  const __m256i high = _mm256_andnot_si256(_mm256_set1_epi8(0x0f), pairs);
  const __m256i zero = _mm256_setzero_si256();
  const auto even = static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, zero)));
  const auto odd = static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, zero)));
  const auto follow = static_cast<unsigned>(_mm_popcnt_u32(_bzhi_u32(even, (nonzero + 1) / 2)) +
                                            _mm_popcnt_u32(_bzhi_u32(odd, nonzero / 2)));
  walk.at += (nonzero + 1) / 2 + (follow << (head.wide() ? 1 : 0));
  walk.faults |= (head.sound() ? 0U : 1U) | static_cast<unsigned>(which >> 63);
}

}  // namespace

FEEDRATE_AVX2 bool all_sound_avx2(std::span<const PackedRun> runs) {
  std::array<Walk, runs_in_turn> walks{};
  std::size_t together = runs.front().blocks;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::byte* const at = runs[i].data.data();
    walks[i] = {at, at + runs[i].data.size()};
    together = std::min(together, runs[i].blocks);
  }
  if (runs.size() < runs_in_turn) together = 0;
  for (std::size_t block = 0; block < together; ++block) {
    for (Walk& walk : walks) {
      if (walk.at >= walk.end) return false;
      step(walk);
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Walk& walk = walks[i];
    for (std::size_t block = together; block < runs[i].blocks; ++block) {
      if (walk.at >= walk.end) return false;
      step(walk);
    }
    if (walk.at != walk.end || walk.faults != 0) return false;
  }
  return true;
}

}  // namespace feedrate::formats
