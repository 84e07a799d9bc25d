#pragma once
// SGD with momentum, as Caffe writes it: v ← momentum·v + rate·(g + decay·w); w ← w − v. PyTorch's
// has the rate outside v, which is the same until the rate changes.

#include "trainer/optimizers/optimizer.h"

namespace feedrate::trainer {

struct SgdRule {
  static constexpr const char* name = "sgd";
  static constexpr const char* summary =
      "stochastic gradient descent with momentum, as Caffe writes it";
  static constexpr std::size_t states = 1;  // velocity
  static constexpr bool norms = false;
  static constexpr UpdateSettings defaults{};

  float rate, momentum, decay;

  constexpr SgdRule(const UpdateSettings& settings, const UpdateScale& scale)
      : rate(static_cast<float>(settings.rate * scale.rate)),
        momentum(static_cast<float>(settings.momentum)),
        decay(static_cast<float>(settings.decay * scale.decay)) {}

  constexpr void update(float& weight, float gradient, float& velocity) const {
    velocity = momentum * velocity + rate * (gradient + decay * weight);
    weight -= velocity;
  }
};

}  // namespace feedrate::trainer
