#pragma once
// Adam as PyTorch writes it (torch.optim.Adam), t counted from 1: g ← g + decay·w;
// m ← beta1·m + (1 − beta1)·g; s ← beta2·s + (1 − beta2)·g²;
// w ← w − rate / (1 − beta1^t) · m / (√s / √(1 − beta2^t) + epsilon).

#include <cmath>

#include "trainer/optimizers/optimizer.h"

namespace feedrate::trainer {

struct AdamRule {
  static constexpr const char* name = "adam";
  static constexpr const char* summary =
      "mean gradient over the root of the mean square, as PyTorch writes it";
  static constexpr std::size_t states = 2;  // mean, mean square
  static constexpr bool norms = false;
  static constexpr UpdateSettings defaults{.rate = 0.001};

  float decay, past, present, past_squares, present_squares, epsilon;
  float step;  // rate / (1 − beta1^t)
  float root;  // 1 / √(1 − beta2^t)

  constexpr AdamRule(const UpdateSettings& settings, const UpdateScale& scale)
      : decay(static_cast<float>(settings.decay * scale.decay)),
        past(static_cast<float>(settings.momentum)),
        present(static_cast<float>(1 - settings.momentum)),
        past_squares(static_cast<float>(settings.beta2)),
        present_squares(static_cast<float>(1 - settings.beta2)),
        epsilon(static_cast<float>(settings.epsilon)),
        step(static_cast<float>(settings.rate * scale.rate / filled(settings.momentum, settings))),
        root(static_cast<float>(1 / std::sqrt(filled(settings.beta2, settings)))) {}

  constexpr void update(float& weight, float gradient, float& mean, float& square) const {
    gradient += decay * weight;
    mean = past * mean + present * gradient;
    square = past_squares * square + present_squares * gradient * gradient;
    weight -= step * mean / (std::sqrt(square) * root + epsilon);
  }

 private:
  // The sum of the weights of all gradients in a moving average that started at 0.
  static constexpr double filled(double beta, const UpdateSettings& settings) {
    return 1 - std::pow(beta, static_cast<double>(settings.step + 1));
  }
};

}  // namespace feedrate::trainer
