#pragma once
// Vectors of values as extensions of GCC and Clang: they use the registers that the surrounding
// function is compiled for. Pass them only by reference, because passing by value differs between
// instruction sets. For use inside functions marked FEEDRATE_VECTOR, with lambdas marked
// FEEDRATE_INLINE: code that is not inlined there is compiled for the oldest processor.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "trainer/backends/cpu/value_type.h"

#define FEEDRATE_INLINE __attribute__((always_inline))

namespace feedrate::trainer::cpu {

template <int width>
struct VectorOf {
  typedef float Floats __attribute__((vector_size(width * 4)));
  typedef double Doubles __attribute__((vector_size(width * 8)));
  typedef std::int32_t Ints __attribute__((vector_size(width * 4)));
  typedef std::uint32_t Bits __attribute__((vector_size(width * 4)));
  typedef std::uint16_t Halves __attribute__((vector_size(width * 2)));
  typedef std::uint8_t Bytes __attribute__((vector_size(width)));
};

/// Sets all lanes. Adding the value to a vector of zeros does the same, but lane by lane: GCC 12
/// takes such a sum apart before it compiles the function for wide registers.
template <class Vector, class Value>
[[gnu::always_inline]] inline void fill(const Value& value, Vector& to) {
  Value all[sizeof(Vector) / sizeof(Value)];
  for (Value& lane : all) lane = value;
  std::memcpy(&to, all, sizeof to);
}

/// Load from and store to any address, aligned or not; bf16 is widened and rounded, as Bf16 does
/// it.
template <class Vector, class Value>
[[gnu::always_inline]] inline void load(const Value* from, Vector& to) {
  std::memcpy(&to, from, sizeof to);
}
template <class Vector, class Value>
[[gnu::always_inline]] inline void store(const Vector& from, Value* to) {
  std::memcpy(to, &from, sizeof from);
}
template <class Vector>
[[gnu::always_inline]] inline void load(const Bf16* from, Vector& to) {
  using Types = VectorOf<sizeof(Vector) / sizeof(float)>;
  typename Types::Halves halves;
  std::memcpy(&halves, from, sizeof halves);
  const typename Types::Bits bits = __builtin_convertvector(halves, typename Types::Bits) << 16;
  std::memcpy(&to, &bits, sizeof to);
}
template <class Vector>
[[gnu::always_inline]] inline void store(const Vector& from, Bf16* to) {
  using Types = VectorOf<sizeof(Vector) / sizeof(float)>;
  typename Types::Bits bits;
  std::memcpy(&bits, &from, sizeof bits);
  const typename Types::Bits rounded = bits + 0x7fffU + (bits >> 16 & 1U);
  bits = (from == from ? rounded : bits | 0x400000U) >> 16;
  const auto halves = __builtin_convertvector(bits, typename Types::Halves);
  std::memcpy(static_cast<void*>(to), &halves, sizeof halves);
}

/// Calls body(first, width) for each chunk of [0, count); `width` is a constant of 16, 4 or 1. The
/// channels of a pixel are often few and seldom a multiple of a vector's width: chunks of fixed
/// widths stay in registers.
template <class Body>
[[gnu::always_inline]] inline void for_lanes(std::int64_t count, const Body& body) {
  std::int64_t lane = 0;
  for (; lane + 16 <= count; lane += 16) body(lane, std::integral_constant<int, 16>());
  for (; lane + 4 <= count; lane += 4) body(lane, std::integral_constant<int, 4>());
  for (; lane < count; ++lane) body(lane, std::integral_constant<int, 1>());
}

}  // namespace feedrate::trainer::cpu
