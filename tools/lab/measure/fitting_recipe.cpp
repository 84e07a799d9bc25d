#include "tools/lab/measure/fitting_recipe.h"

#include <fmt/format.h>

#include "formats/inspect/survey.h"
#include "tools/console/console.h"

namespace feedrate::tools {

std::string fitting_recipe(const formats::Dataset& dataset, const std::string& asked) {
  if (asked != "none") return asked;
  const formats::Survey seen = formats::survey(dataset, {.samples = 64});
  if (seen.heights.min == seen.heights.max && seen.widths.min == seen.widths.max) return asked;
  constexpr const char* usual = "imagenet-train";
  note(fmt::format(
      "using --recipe {}, because the images differ in size: {} to {} pixels high, {} to {} wide",
      usual, seen.heights.min, seen.heights.max, seen.widths.min, seen.widths.max));
  return usual;
}

}  // namespace feedrate::tools
