#pragma once
// Random numbers for made data: pure functions of a key and a counter, so that any thread can make
// any image and the same seed gives the same files everywhere.

#include "formats/base/random.h"

namespace feedrate::converters {

/// The draws of one made image, in order.
class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t split, std::uint64_t index)
      : key_(formats::mix64(formats::mix64(formats::mix64(seed) + split) + index)) {}

  /// 0 … bound - 1.
  std::uint32_t below(std::uint32_t bound) { return feedrate::formats::below(bits(), bound); }
  /// [low, high). The standard's distributions differ between libraries; this does not.
  float between(float low, float high) { return low + formats::unit_float(bits()) * (high - low); }

 private:
  std::uint64_t bits() { return formats::mix64(key_ + counter_++); }

  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace feedrate::converters
