#pragma once
// A network whose row is data: what it was published with, and the function that builds it.

#include <cmath>
#include <string>

#include "formats/base/error.h"
#include "trainer/networks/network.h"

namespace feedrate::trainer {

struct Definition {
  formats::Shape input;
  std::uint32_t classes;
  TrainRecipe recipe;
  /// From the pixels to the loss.
  Graph (*build)(Builder& b, std::uint32_t classes);
};

class DefinedNetwork final : public Network {
 public:
  DefinedNetwork(std::string_view name, std::string_view summary, Definition definition)
      : Network(name, summary), definition_(std::move(definition)) {}
  Graph build(formats::Shape input, std::uint32_t classes) const override {
    Builder b(std::string(name()), input, classes);
    try {
      return definition_.build(b, classes);
    } catch (const formats::Error& error) {
      throw formats::Error(formats::join(error.what(), "; images are ", size(input), ", ", name(),
                                         " is published for ", size(definition_.input)));
    }
  }
  formats::Shape published_input() const override { return definition_.input; }
  std::uint32_t published_classes() const override { return definition_.classes; }
  TrainRecipe recipe() const override { return definition_.recipe; }

 private:
  static std::string size(const formats::Shape& shape) {
    return formats::join(shape.height, "x", shape.width, "x", shape.channels);
  }

  Definition definition_;
};

inline constexpr formats::Shape mnist_image{28, 28, 1};
inline constexpr formats::Shape cifar_image{32, 32, 3};
inline constexpr formats::Shape imagenet_image{224, 224, 3};

/// PyTorch's start values: weights and biases uniform within ±1/√inputs.
inline Builder::Layer pytorch_layer(std::int64_t inputs) {
  return {.weight = {Init::Rule::uniform_fan_in, 0},
          .bias = {Init::Rule::uniform, 1 / std::sqrt(static_cast<double>(inputs))}};
}

}  // namespace feedrate::trainer
