#pragma once
// A recipe made of parts: imagenet-train+color-jitter:hue=0.1+mixup, or parts alone.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "loader/recipes/part.h"

namespace feedrate::loader {

/// What a composed recipe is made of, in the order of its text.
struct Composition {
  const Recipe* base = nullptr;  // null: the whole image
  std::vector<std::vector<Part>> passes = std::vector<std::vector<Part>>(1);
  std::string name{};  // the same for the same composition
};

/// Reads "NAME:KEY=VALUE+NAME+…"; `base` finds a recipe by its text, or throws. Throws Error for what
/// is no part, has no such parameter or stands behind a mix of batches.
Composition read_composition(std::string_view text, const Recipe& (*base)(std::string_view));
/// `name` outlives the recipe.
std::unique_ptr<const Recipe> compose(std::string_view name, Composition composition);

}  // namespace feedrate::loader
