#pragma once
// A preset: a name for a network, an augmentation and all settings of its training.

#include <span>

#include "formats/base/kind.h"
#include "trainer/networks/network.h"

namespace feedrate::trainer {

class Preset : public formats::Kind {
 public:
  Preset(std::string_view name, std::string_view summary, std::string_view network,
         std::string_view augmentation, TrainRecipe recipe);
  /// Its network, by name.
  std::string_view network() const { return network_; }
  /// How images are augmented: a recipe of the loader, by name.
  std::string_view augmentation() const { return augmentation_; }
  const TrainRecipe& recipe() const { return recipe_; }

 private:
  std::string_view network_;
  std::string_view augmentation_;
  TrainRecipe recipe_;
};

/// All presets, in the order of help.
std::span<const Preset* const> presets();
const Preset& preset(std::string_view name);

}  // namespace feedrate::trainer
