#pragma once
// The randomness of loading: a pure function of (seed, epoch, index, draw), for host and device.

#include "formats/base/random.h"

namespace feedrate::loader {

/// The draws of one sample in one epoch.
class SampleRandom {
 public:
  constexpr SampleRandom(std::uint64_t seed, std::uint64_t epoch, std::uint64_t index)
      : key_(formats::mix64(formats::mix64(seed ^ 0x5eedU) + formats::mix64(epoch ^ 0xe40c4U)) ^
             index) {}
  constexpr std::uint64_t bits(std::uint32_t draw) const {
    return formats::random_bits(key_, draw);
  }

 private:
  std::uint64_t key_;
};

/// The sample among `size` that takes the seat of the bad sample `index`, if those of earlier tries
/// are bad too.
constexpr std::uint64_t substitute(const SampleRandom& random, std::uint32_t attempt,
                                   std::uint64_t size) {
  // Draws far from those that recipes take.
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(random.bits(~attempt)) * size >> 64);
}

}  // namespace feedrate::loader
