#include "trainer/presets/preset.h"

namespace feedrate::trainer {
using namespace formats;

Preset::Preset(std::string_view name, std::string_view summary, std::string_view network,
               std::string_view augmentation, TrainRecipe recipe)
    : Kind(name, summary),
      network_(network),
      augmentation_(augmentation),
      recipe_(std::move(recipe)) {}

#define FEEDRATE_ROW(name) extern const Preset& name##_preset;
#include "trainer/presets/list.inc"
#undef FEEDRATE_ROW

std::span<const Preset* const> presets() {
  static const Preset* const rows[] = {
#define FEEDRATE_ROW(name) &name##_preset,
#include "trainer/presets/list.inc"
#undef FEEDRATE_ROW
  };
  return rows;
}

const Preset& preset(std::string_view name) { return find_kind("preset", name, presets()); }

}  // namespace feedrate::trainer
