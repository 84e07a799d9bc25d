#include "tools/lab/report/draw/legend.h"

#include <algorithm>

#include "tools/console/bars.h"

namespace feedrate::tools {

std::string shown_name(const std::string& name) {
  constexpr std::size_t most_columns = 44;
  return fitted_name(name, std::min(columns_of(name), most_columns));
}

std::vector<At> legend_places(const std::vector<std::string>& names, At first, double sample) {
  constexpr double line = 18, between = 14;
  std::vector<At> places;
  At at = first;
  for (const std::string& name : names) {
    const double needed = sample + legend_gap + width_of(name);
    if (at.x > first.x && at.x + needed > card_width) at = {first.x, at.y + line};
    places.push_back(at);
    at.x += needed + between;
  }
  return places;
}

}  // namespace feedrate::tools
