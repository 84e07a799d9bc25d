#pragma once
// How parameters follow gradients. Each rule's maths is one body in trainer/optimizers/, run by
// every backend over the flat buffer.

#include <cstdint>
#include <span>

#include "formats/base/kind.h"

namespace feedrate::trainer {

/// What one update needs to know; the same for all parameters but for their scales. What a rule has
/// no use for it does not read.
struct UpdateSettings {
  double rate = 0.01;
  double momentum = 0.9;  // Adam's beta1
  double decay = 0;       // L2, added to the gradient; of adamw taken off the weight
  double beta2 = 0.999;   // share of the past in the mean of squares; RMSprop's alpha
  double epsilon = 1e-8;
  double trust = 1e-3;     // of lars: a layer's step in parts of its weights' length
  std::uint64_t step = 0;  // counted from 0, from the start of training; sessions fill it in
};

/// What is one parameter's own in an update.
struct UpdateScale {
  double rate = 1;         // Parameter::rate_scale
  double decay = 1;        // Parameter::decay_scale
  bool matrix = true;      // of two dimensions or more; biases and norms have one
  double weight_norm = 0;  // lengths before the update, for rules with `norms`
  double gradient_norm = 0;
};

class Optimizer : public formats::Kind {
 public:
  using formats::Kind::Kind;
  /// Floats of state that a value of a parameter needs.
  virtual std::size_t states() const = 0;
  /// Whether it asks for the length of each parameter and of its gradient.
  virtual bool norms() const = 0;
  /// What its settings are when nobody says: PyTorch's.
  virtual UpdateSettings defaults() const = 0;
};
std::span<const Optimizer* const> optimizers();
const Optimizer& optimizer(std::string_view name);

}  // namespace feedrate::trainer
