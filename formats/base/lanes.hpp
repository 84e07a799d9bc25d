#pragma once
// Sixteen bytes in a register, for loops that every processor runs in the same way. They are GCC's
// vectors: + - & | == and the like compile to SSE2 on x86-64 and to NEON on ARM. What has no
// operator is here: by an instruction where x86-64 has one, else by operators.

#include <cstring>

#include "formats/base/bytes.h"
#include "formats/base/processor.h"
#if FEEDRATE_X86
#include <emmintrin.h>
#endif

namespace feedrate::formats {

inline constexpr std::size_t lanes = 16;

using Lanes = std::uint8_t __attribute__((vector_size(lanes)));
/// Of eight bytes, to compute without overflow.
using WideLanes = std::int16_t __attribute__((vector_size(lanes)));
/// Sums over the lanes of each half.
using LaneSums = std::uint64_t __attribute__((vector_size(lanes)));
inline Lanes load_lanes(const std::byte* from) {
  Lanes value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline void store_lanes(std::byte* to, Lanes value) { std::memcpy(to, &value, sizeof value); }

inline Lanes all_lanes(std::uint8_t value) { return Lanes{} + value; }

inline Lanes smaller(Lanes a, Lanes b) { return a < b ? a : b; }

#if FEEDRATE_X86

inline namespace lanes_by_sse2 {

/// What a function needs to shuffle lanes by one instruction, __builtin_shufflevector(a, a, …);
/// it may be called where has_shuffles().
#define FEEDRATE_SHUFFLES __attribute__((target("ssse3")))
inline bool has_shuffles() { return processor_has({Instructions::ssse3}); }

/// A flag for each lane, of lane_bits equal bits; the first lane's are the lowest.
using LaneBits = unsigned;
inline constexpr unsigned lane_bits = 1;
inline LaneBits equal_lanes(Lanes a, Lanes b) {
  return static_cast<unsigned>(_mm_movemask_epi8(reinterpret_cast<__m128i>(a == b)));
}

/// a - b, or 0 where that is negative.
inline Lanes minus_down_to_0(Lanes a, Lanes b) {
  return reinterpret_cast<Lanes>(
      _mm_subs_epu8(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
}

/// (a + b) / 2, rounded down.
inline Lanes average(Lanes a, Lanes b) {  // the instruction rounds up
  const Lanes odd = (a ^ b) & all_lanes(1);
  return reinterpret_cast<Lanes>(
             _mm_avg_epu8(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b))) -
         odd;
}

inline LaneSums sums(Lanes values) {
  return reinterpret_cast<LaneSums>(
      _mm_sad_epu8(reinterpret_cast<__m128i>(values), _mm_setzero_si128()));
}

/// The four bytes of an integer.
inline WideLanes widened(std::int32_t four) {
  return reinterpret_cast<WideLanes>(
      _mm_unpacklo_epi8(_mm_cvtsi32_si128(four), _mm_setzero_si128()));
}
/// And back; all are from 0 to 255.
inline std::int32_t narrowed(WideLanes values) {
  const auto both = reinterpret_cast<__m128i>(values);
  return _mm_cvtsi128_si32(_mm_packus_epi16(both, both));
}

}  // namespace lanes_by_sse2

#else

inline namespace lanes_by_operators {

#define FEEDRATE_SHUFFLES
inline bool has_shuffles() { return true; }

using HalfLanes = std::uint8_t __attribute__((vector_size(lanes / 2)));
using LanePairs = std::uint16_t __attribute__((vector_size(lanes)));
using LaneFours = std::uint32_t __attribute__((vector_size(lanes)));

using LaneBits = std::uint64_t;
inline constexpr unsigned lane_bits = 4;
inline LaneBits equal_lanes(Lanes a, Lanes b) {
  const auto pairs = reinterpret_cast<LanePairs>(a == b);
  return reinterpret_cast<LaneBits>(__builtin_convertvector(pairs >> 4, HalfLanes));
}

inline Lanes minus_down_to_0(Lanes a, Lanes b) { return (a > b ? a : b) - b; }

inline Lanes average(Lanes a, Lanes b) { return (a & b) + ((a ^ b) >> 1); }

inline LaneSums sums(Lanes values) {
  const auto pairs = reinterpret_cast<LanePairs>(values);
  const auto fours = reinterpret_cast<LaneFours>((pairs & 255) + (pairs >> 8));
  const auto halves = reinterpret_cast<LaneSums>((fours & 0xffff) + (fours >> 16));
  return (halves & 0xffffffff) + (halves >> 32);
}

inline WideLanes widened(std::int32_t four) {
  const auto bytes = reinterpret_cast<Lanes>(LaneSums{static_cast<std::uint32_t>(four), 0});
  return reinterpret_cast<WideLanes>(__builtin_shufflevector(bytes, Lanes{}, 0, 16, 1, 17, 2, 18, 3,
                                                             19, 4, 20, 5, 21, 6, 22, 7, 23));
}

inline std::int32_t narrowed(WideLanes values) {
  const auto bytes = reinterpret_cast<Lanes>(values);
  const Lanes low =
      __builtin_shufflevector(bytes, bytes, 0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 4, 6, 8, 10, 12, 14);
  return static_cast<std::int32_t>(reinterpret_cast<LaneSums>(low)[0]);
}

}  // namespace lanes_by_operators

#endif

/// Which lane the lowest of `bits`, which are not all zero, belongs to.
inline unsigned first_lane(LaneBits bits) {
  return static_cast<unsigned>(std::countr_zero(bits)) / lane_bits;
}

}  // namespace feedrate::formats
