#pragma once
// RMSprop as PyTorch writes it (torch.optim.RMSprop, not centred): g ← g + decay·w;
// s ← beta2·s + (1 − beta2)·g²; v ← momentum·v + g / (√s + epsilon); w ← w − rate·v. TensorFlow has
// epsilon under the root. beta2 is Keras' rho (default 0.9) and PyTorch's alpha (default 0.99).

#include <cmath>

#include "trainer/optimizers/optimizer.h"

namespace feedrate::trainer {

struct RmspropRule {
  static constexpr const char* name = "rmsprop";
  static constexpr const char* summary =
      "steps divided by the root of the mean square gradient, as PyTorch writes it";
  static constexpr std::size_t states = 2;  // mean square, velocity
  static constexpr bool norms = false;
  static constexpr UpdateSettings defaults{.rate = 0.01, .momentum = 0, .beta2 = 0.99};

  float rate, momentum, decay, past, present, epsilon;

  constexpr RmspropRule(const UpdateSettings& settings, const UpdateScale& scale)
      : rate(static_cast<float>(settings.rate * scale.rate)),
        momentum(static_cast<float>(settings.momentum)),
        decay(static_cast<float>(settings.decay * scale.decay)),
        past(static_cast<float>(settings.beta2)),
        present(static_cast<float>(1 - settings.beta2)),
        epsilon(static_cast<float>(settings.epsilon)) {}

  constexpr void update(float& weight, float gradient, float& square, float& velocity) const {
    gradient += decay * weight;
    square = past * square + present * gradient * gradient;
    velocity = momentum * velocity + gradient / (std::sqrt(square) + epsilon);
    weight -= rate * velocity;
  }
};

}  // namespace feedrate::trainer
