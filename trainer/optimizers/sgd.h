#pragma once
// SGD with momentum, as Caffe writes it: v ← momentum·v + rate·(g + decay·w); w ← w − v.
// One body for host and device.

namespace feedrate {

constexpr void sgd_update(float& weight, float gradient, float& velocity, float rate,
                          float momentum, float decay) {
  velocity = momentum * velocity + rate * (gradient + decay * weight);
  weight -= velocity;
}

}  // namespace feedrate
