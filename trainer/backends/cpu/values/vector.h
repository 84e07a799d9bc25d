#pragma once
// Values side by side in one register, in GCC's and Clang's own words for it: they become whatever
// registers the function around them is compiled for. Passed by reference only, as how they are
// passed by value differs between instruction sets. For use inside functions marked
// FEEDRATE_VECTOR, with lambdas marked FEEDRATE_INLINE: what is not inlined there is compiled for
// the oldest processor.

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

/// From and to any address.
template <class Vector, class Value>
[[gnu::always_inline]] inline void load(const Value* from, Vector& to) {
  std::memcpy(&to, from, sizeof to);
}
template <class Vector, class Value>
[[gnu::always_inline]] inline void store(const Vector& from, Value* to) {
  std::memcpy(to, &from, sizeof from);
}

}  // namespace feedrate::trainer::cpu
