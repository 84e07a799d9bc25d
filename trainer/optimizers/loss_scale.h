#pragma once
// The factor of losses that keeps 16-bit gradients from vanishing. A step whose gradients are not
// finite halves it and changes no parameter; many finite steps in a row double it.

#include <cstdint>

namespace feedrate::trainer {

struct LossScale {
  std::uint64_t scale = 0;       // a power of two
  std::uint64_t good_steps = 0;  // since the last change

  /// The limit of doubling, which a float holds exactly.
  static constexpr std::uint64_t max_scale = 1U << 24;
};

}  // namespace feedrate::trainer
