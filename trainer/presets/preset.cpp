#include "trainer/presets/preset.h"

namespace feedrate::trainer {
using namespace formats;

Preset::Preset(std::string_view name, std::string_view summary, std::string_view network,
               std::string_view augmentation, TrainRecipe recipe)
    : Kind(name, summary),
      network_(network),
      augmentation_(augmentation),
      recipe_(std::move(recipe)) {}

extern const std::span<const Preset* const> presets_of_2018;
extern const std::span<const Preset* const> presets_of_keras;
extern const std::span<const Preset* const> modern_presets;

std::span<const Preset* const> presets() {
  static const std::vector<const Preset*> rows = [] {
    std::vector<const Preset*> all;
    for (const auto& group : {presets_of_2018, presets_of_keras, modern_presets}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }();
  return rows;
}

const Preset& preset(std::string_view name) { return find_kind("preset", name, presets()); }

}  // namespace feedrate::trainer
