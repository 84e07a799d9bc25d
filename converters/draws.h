#pragma once
// Random numbers for made data: pure functions of a key and a counter, so that any thread can make
// any image and the same seed gives the same files everywhere.

#include <cstdint>

namespace feedrate {

/// splitmix64's finaliser: every bit of the input moves every bit of the output.
constexpr std::uint64_t mix_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// The draws of one made image, in order.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t split, std::uint64_t index)
      : key_(mix_bits(mix_bits(mix_bits(seed) + split) + index)) {}

  /// 0 … bound - 1.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((bits() >> 32) * bound) >> 32);
  }
  /// [low, high). The standard's distributions differ between libraries; this does not.
  float between(float low, float high) {
    const auto unit = static_cast<float>(bits() >> 40) * (1.0F / 16777216.0F);
    return low + unit * (high - low);
  }

 private:
  std::uint64_t bits() { return mix_bits(key_ + counter_++); }

  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace feedrate
