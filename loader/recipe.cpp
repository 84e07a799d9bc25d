#include "loader/recipe.h"

namespace feedrate::loader {
using namespace formats;

#define FEEDRATE_ROW(name) extern const Recipe& name##_recipe;
#include "loader/recipes/list.inc"
#undef FEEDRATE_ROW

std::span<const Recipe* const> recipes() {
  static const Recipe* const rows[] = {
#define FEEDRATE_ROW(name) &name##_recipe,
#include "loader/recipes/list.inc"
#undef FEEDRATE_ROW
  };
  return rows;
}

const Recipe& recipe(std::string_view name) { return find_kind("recipe", name, recipes()); }

}  // namespace feedrate::loader
