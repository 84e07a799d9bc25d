#pragma once
// How parameters follow gradients. Each rule's maths is one constexpr body in trainer/optimizers/,
// run by every backend over the flat buffer.

#include <span>

#include "formats/kind.h"

namespace feedrate {

class Optimizer : public Kind {
 public:
  using Kind::Kind;
  virtual std::size_t states() const = 0;  // floats of state a parameter needs
};
std::span<const Optimizer* const> optimizers();
const Optimizer& optimizer(std::string_view name);

/// What one update needs to know; the same for all parameters but for their scales.
struct UpdateSettings {
  double rate = 0.01;
  double momentum = 0.9;
  double decay = 0;  // L2, added to the gradient
};

}  // namespace feedrate
