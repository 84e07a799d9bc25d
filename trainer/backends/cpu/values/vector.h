#pragma once
// Vectors of values as extensions of GCC and Clang: they use the registers that the surrounding
// function is compiled for. Pass them only by reference, because passing by value differs between
// instruction sets. For use inside functions marked FEEDRATE_VECTOR, with lambdas marked
// FEEDRATE_INLINE: code that is not inlined there is compiled for the oldest processor.

#include <cstdint>
#include <cstring>

#define FEEDRATE_INLINE __attribute__((always_inline))

namespace feedrate::trainer::cpu {

template <int width>
struct VectorOf {
  typedef float Floats __attribute__((vector_size(width * 4)));
  typedef double Doubles __attribute__((vector_size(width * 8)));
  typedef std::int32_t Ints __attribute__((vector_size(width * 4)));
};

/// Load from and store to any address, aligned or not.
template <class Vector, class Value>
[[gnu::always_inline]] inline void load(const Value* from, Vector& to) {
  std::memcpy(&to, from, sizeof to);
}
template <class Vector, class Value>
[[gnu::always_inline]] inline void store(const Vector& from, Value* to) {
  std::memcpy(to, &from, sizeof from);
}

}  // namespace feedrate::trainer::cpu
