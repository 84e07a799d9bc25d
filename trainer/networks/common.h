#pragma once
// What several networks share: the usual images and the initial values of Keras and PyTorch.

#include <cmath>

#include "trainer/networks/network.h"

namespace feedrate::trainer {

inline constexpr formats::Shape mnist_image{28, 28, 1};
inline constexpr formats::Shape cifar_image{32, 32, 3};
inline constexpr formats::Shape imagenet_image{224, 224, 3};

/// Keras' initial values.
inline const Builder::Layer glorot_layer{.weight = {Init::Rule::glorot_uniform, 0}};

/// Weights and biases start uniform within ±1/√inputs, the default of torch.nn.
inline Builder::Layer pytorch_layer(std::int64_t inputs) {
  return {.weight = {Init::Rule::uniform_fan_in, 0},
          .bias = {Init::Rule::uniform, 1 / std::sqrt(static_cast<double>(inputs))}};
}

}  // namespace feedrate::trainer
