#pragma once
// Random draws one after the other, and the distributions that augmentation needs. The same on every
// machine.

#include <cstdint>

#include "loader/order/sample_draws.h"

namespace feedrate::loader {

/// Each call takes the next draw of a sample, from the draw numbered `first`. One thread.
class Draws {
 public:
  Draws(const SampleRandom& random, std::uint32_t first) : random_(random), next_(first) {}
  std::uint64_t bits() { return random_.bits(next_++); }
  /// All draws of the sample, for what numbers its own.
  const SampleRandom& random() const { return random_; }
  /// Uniform in [0, bound).
  std::uint32_t below(std::uint32_t bound) { return formats::below(bits(), bound); }
  /// Uniform in [low, high), 53 bits.
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53);
  }
  /// True with this probability; never for 0, always for 1.
  bool happens(double probability) { return uniform(0, 1) < probability; }
  /// From the beta distribution with both parameters `alpha`, which is positive.
  double beta(double alpha);

 private:
  SampleRandom random_;
  std::uint32_t next_;
};

/// Functions whose results have the same bits on every machine, unlike those of the C library.
double exponential(double x);
double logarithm(double x);  // of a positive number

}  // namespace feedrate::loader
