#pragma once
// SGD with Nesterov's momentum, as PyTorch writes it (torch.optim.SGD, nesterov=True):
// g ← g + decay·w; v ← momentum·v + g; w ← w − rate·(g + momentum·v). v starts at zero, so it
// equals g after the first step, as in PyTorch.

#include "trainer/optimizers/optimizer.h"

namespace feedrate::trainer {

struct NesterovRule {
  static constexpr const char* name = "nesterov";
  static constexpr const char* summary = "SGD with Nesterov's momentum, as PyTorch writes it";
  static constexpr std::size_t states = 1;  // velocity
  static constexpr bool norms = false;
  static constexpr UpdateSettings defaults{};

  float rate, momentum, decay;

  constexpr NesterovRule(const UpdateSettings& settings, const UpdateScale& scale)
      : rate(static_cast<float>(settings.rate * scale.rate)),
        momentum(static_cast<float>(settings.momentum)),
        decay(static_cast<float>(settings.decay * scale.decay)) {}

  constexpr void update(float& weight, float gradient, float& velocity) const {
    gradient += decay * weight;
    velocity = momentum * velocity + gradient;
    weight -= rate * (gradient + momentum * velocity);
  }
};

}  // namespace feedrate::trainer
