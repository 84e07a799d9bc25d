#pragma once
// Random numbers as pure functions of a key and a counter: no state, any thread, any order, and the
// same on host and device (all constexpr).

#include <cstdint>

namespace feedrate::formats {

/// A 64-bit mix (splitmix64's finaliser): every bit of the input affects every bit of the output.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// 64 random bits for a key and a counter.
constexpr std::uint64_t random_bits(std::uint64_t key, std::uint64_t counter) {
  return mix64(mix64(key) ^ (counter * 0xd1342543de82ef95U));
}

/// Uniform in [0, 1), 24 bits: exact in float.
constexpr float unit_float(std::uint64_t bits) {
  return static_cast<float>(bits >> 40) * (1.0F / 16777216.0F);
}

/// Uniform in [0, bound), by multiplication: the bias is below bound / 2^32.
constexpr std::uint32_t below(std::uint64_t bits, std::uint32_t bound) {
  return static_cast<std::uint32_t>(((bits >> 32) * bound) >> 32);
}

}  // namespace feedrate::formats
