#pragma once
// What losses are multiplied by so that gradients of 16 bits do not vanish: halved by a step whose
// gradients are not finite, which changes no parameter, doubled after many that are.

#include <cstdint>

namespace feedrate::trainer {

struct LossScale {
  std::uint64_t scale = 0;       // a power of two
  std::uint64_t good_steps = 0;  // since it changed

  /// It is doubled up to here. A float holds it exactly.
  static constexpr std::uint64_t max_scale = 1U << 24;
};

}  // namespace feedrate::trainer
