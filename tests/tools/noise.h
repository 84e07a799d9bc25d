#pragma once
// Noise of made-up measurements: the same on every machine.

#include <cmath>
#include <cstdint>
#include <numbers>

#include "formats/base/random.h"

namespace feedrate::testing {

class Noise {
 public:
  explicit Noise(std::uint64_t key) : key_(key) {}
  /// Of the normal distribution, with a standard deviation of 1.
  double gauss() {
    return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * std::numbers::pi * uniform());
  }
  /// A factor whose logarithm has this standard deviation.
  double factor(double deviation) { return std::exp(deviation * gauss()); }

 private:
  double uniform() { return formats::unit_float(formats::random_bits(key_, draws_++)); }

  std::uint64_t key_;
  std::uint64_t draws_ = 0;
};

}  // namespace feedrate::testing
