#pragma once
// Random draws for samples: a pure function of (seed, epoch, index, draw).

#include "formats/base/random.h"

namespace feedrate::loader {

/// The random draws of one sample in one epoch. Any thread.
class SampleRandom {
 public:
  constexpr SampleRandom(std::uint64_t seed, std::uint64_t epoch, std::uint64_t index)
      : key_(formats::mix64(formats::mix64(seed ^ 0x5eedU) + formats::mix64(epoch ^ 0xe40c4U)) ^
             index) {}
  constexpr std::uint64_t bits(std::uint32_t draw) const {
    return formats::random_bits(key_, draw);
  }
  /// Other draws of the same sample, for what a recipe does in its stage `stage`; 0: these.
  constexpr SampleRandom of_stage(std::uint32_t stage) const {
    SampleRandom other = *this;
    if (stage != 0) other.key_ = formats::mix64(key_ + stage);
    return other;
  }

 private:
  std::uint64_t key_;
};

/// Whether an event of this probability happens by these random bits: never for 0, always for 1. The
/// highest numbers are those that happen; of Draws::happens(), the lowest.
constexpr bool happens(std::uint64_t bits, double probability) {
  return static_cast<double>(bits >> 11) * 0x1p-53 >= 1 - probability;
}

/// The index in [0, size) of the sample to try at this attempt in the seat of a bad sample with
/// these draws.
constexpr std::uint64_t substitute(const SampleRandom& random, std::uint32_t attempt,
                                   std::uint64_t size) {
  // Numbered from the end, far from the draws of recipes.
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(random.bits(~attempt)) * size >> 64);
}

}  // namespace feedrate::loader
