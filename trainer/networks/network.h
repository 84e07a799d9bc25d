#pragma once
// A network is a function that builds a graph.

#include <span>

#include "formats/base/kind.h"
#include "trainer/graph/graph.h"
#include "trainer/loop/train_recipe.h"

namespace feedrate::trainer {

class Network : public formats::Kind {
 public:
  using formats::Kind::Kind;
  /// Throws Error when the network cannot take such images.
  virtual Graph build(formats::Shape input, std::uint32_t classes) const = 0;
  /// The input it was published for: what `list networks` counts with.
  virtual formats::Shape published_input() const = 0;
  virtual std::uint32_t published_classes() const = 0;
  /// The published way to train it: what the options of `train` mean when they are not given.
  virtual TrainRecipe recipe() const = 0;
};

std::span<const Network* const> networks();
const Network& network(std::string_view name);

}  // namespace feedrate::trainer
