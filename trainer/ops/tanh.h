#pragma once
// The tangent itself is the platform's own; this is on host and device.

namespace feedrate::trainer {

constexpr float tanh_gradient(float gradient, float output) {
  return gradient * (1.0F - output * output);
}

}  // namespace feedrate::trainer
