#pragma once
// A network: the function that builds its graph, and what it was published with.

#include <span>

#include "formats/base/kind.h"
#include "trainer/graph/graph.h"
#include "trainer/loop/train_recipe.h"

namespace feedrate::trainer {

class Network final : public formats::Kind {
 public:
  struct Definition {
    formats::Shape input;
    std::uint32_t classes;
    TrainRecipe recipe;
    /// From the pixels to the loss.
    Graph (*build)(Builder& b, std::uint32_t classes);
    /// How its images were augmented: a recipe of the loader, by name.
    std::string_view augmentation;
  };
  Network(std::string_view name, std::string_view summary, Definition definition);

  /// Throws Error when the network does not accept such images.
  Graph build(formats::Shape input, std::uint32_t classes) const;
  /// The input that it was published for: `list networks` counts with it.
  formats::Shape published_input() const { return definition_.input; }
  std::uint32_t published_classes() const { return definition_.classes; }
  /// The published way to train it: the defaults of the options of `train`.
  const TrainRecipe& recipe() const { return definition_.recipe; }
  std::string_view augmentation() const { return definition_.augmentation; }

 private:
  Definition definition_;
};

/// All networks, in the order of help.
std::span<const Network* const> networks();
const Network& network(std::string_view name);

/// The loader's recipe for `stored` images when none is named: the network's own, or `none` where
/// that refuses them or makes another number of channels than the network was published for (a
/// CIFAR network on grey digits).
std::string_view usual_augmentation(const Network& network, formats::Shape stored);

}  // namespace feedrate::trainer
