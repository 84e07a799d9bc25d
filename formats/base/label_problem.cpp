#include "formats/base/label_problem.h"

#include <cmath>
#include <limits>

#include "formats/base/error.h"

namespace feedrate::formats {

std::string label_problem(std::int32_t label, std::uint64_t classes, bool beside_list) {
  if (beside_list && classes == 0) return {};
  if (label < 0) return join("the label ", label, " is negative");
  if (classes == 0 || static_cast<std::uint64_t>(label) < classes) return {};
  return join("the label ", label, " is not below the ", classes, " classes");
}

std::optional<std::int32_t> whole_number(double value) {
  using Label = std::numeric_limits<std::int32_t>;
  if (!(value >= Label::min() && value <= Label::max()) || std::trunc(value) != value) {
    return std::nullopt;
  }
  return static_cast<std::int32_t>(value);
}

}  // namespace feedrate::formats
