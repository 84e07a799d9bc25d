#pragma once
// AdamW as PyTorch writes it (torch.optim.AdamW): w ← w·(1 − rate·decay), then Adam without decay.

#include "trainer/optimizers/adam.h"

namespace feedrate::trainer {

struct AdamwRule {
  static constexpr const char* name = "adamw";
  static constexpr const char* summary = "Adam with weight decay applied directly to the weights";
  static constexpr std::size_t states = AdamRule::states;
  static constexpr bool norms = false;
  static constexpr UpdateSettings defaults{.rate = 0.001, .decay = 0.01};

  float keep;
  AdamRule adam;

  constexpr AdamwRule(const UpdateSettings& settings, const UpdateScale& scale)
      : keep(static_cast<float>(1 - settings.rate * scale.rate * settings.decay * scale.decay)),
        adam(settings, {.rate = scale.rate, .decay = 0}) {}

  constexpr void update(float& weight, float gradient, float& mean, float& square) const {
    weight *= keep;
    adam.update(weight, gradient, mean, square);
  }
};

}  // namespace feedrate::trainer
