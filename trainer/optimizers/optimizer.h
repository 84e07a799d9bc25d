#pragma once
// Update rules. The maths of each rule is written once, in trainer/optimizers/; every backend runs
// it over its flat buffers.

#include <cstdint>
#include <span>

#include "formats/base/kind.h"

namespace feedrate::trainer {

/// Settings of one update, the same for all parameters. A rule ignores the fields that it does not
/// use.
struct UpdateSettings {
  double rate = 0.01;
  double momentum = 0.9;  // Adam's beta1
  double decay = 0;       // L2, added to the gradient; adamw applies it to the weight
  double beta2 = 0.999;   // share of the past in the mean of squares; RMSprop's alpha
  double epsilon = 1e-8;
  double trust = 1e-3;     // of lars: the step of a layer relative to the norm of its weights
  std::uint64_t step = 0;  // from 0 at the start of training; sessions set it
};

/// What differs between parameters in an update.
struct UpdateScale {
  double rate = 1;         // Parameter::rate_scale
  double decay = 1;        // Parameter::decay_scale
  bool matrix = true;      // two or more dimensions; biases and norms have one
  double weight_norm = 0;  // before the update, for rules with `norms`
  double gradient_norm = 0;
};

class Optimizer : public formats::Kind {
 public:
  using formats::Kind::Kind;
  /// Floats of state for each value of a parameter.
  virtual std::size_t states() const = 0;
  /// Whether it needs the norms of each parameter and of its gradient.
  virtual bool norms() const = 0;
  /// Its default settings, which are PyTorch's.
  virtual UpdateSettings defaults() const = 0;
};
std::span<const Optimizer* const> optimizers();
const Optimizer& optimizer(std::string_view name);

}  // namespace feedrate::trainer
