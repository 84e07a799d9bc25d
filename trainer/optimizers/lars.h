#pragma once
// LARS as its paper writes it (You, Gitman, Ginsburg 2017, algorithm 1): for each parameter
// local = trust·|w| / (|g| + decay·|w|), v ← momentum·v + rate·local·(g + decay·w), w ← w − v.
// Parameters of one dimension (biases and norms) use local = 1 and no decay, as in MLPerf's rules.
// A parameter whose weights or gradients are all 0 uses local = 1 with its decay.

#include "trainer/optimizers/sgd.h"

namespace feedrate::trainer {

struct LarsRule {
  static constexpr const char* name = "lars";
  static constexpr const char* summary =
      "SGD with steps scaled by the norm of each layer's weights, for large batches";
  static constexpr std::size_t states = SgdRule::states;
  static constexpr bool norms = true;
  static constexpr UpdateSettings defaults{.rate = 1};

  SgdRule sgd;

  constexpr LarsRule(const UpdateSettings& settings, const UpdateScale& scale)
      : sgd(settings, {.rate = scale.rate * local(settings, scale),
                       .decay = scale.matrix ? scale.decay : 0}) {}

  constexpr void update(float& weight, float gradient, float& velocity) const {
    sgd.update(weight, gradient, velocity);
  }

 private:
  static constexpr double local(const UpdateSettings& settings, const UpdateScale& scale) {
    if (!scale.matrix || !(scale.weight_norm > 0) || !(scale.gradient_norm > 0)) return 1;
    return settings.trust * scale.weight_norm /
           (scale.gradient_norm + settings.decay * scale.decay * scale.weight_norm);
  }
};

}  // namespace feedrate::trainer
