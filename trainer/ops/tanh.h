#pragma once
// For host and device; callers compute the tangent itself with the platform's own function.

namespace feedrate::trainer {

constexpr float tanh_gradient(float gradient, float output) {
  return gradient * (1.0F - output * output);
}

}  // namespace feedrate::trainer
