#include "tools/lab/report/draw/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/console/text.h"

namespace feedrate::tools {
using namespace formats;

std::vector<double> even_ticks(double max_value, unsigned count) {
  if (!(max_value > 0) || !std::isfinite(max_value)) max_value = 1;
  const double rough = max_value / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.5, 2.0, 1.0}) {
    if (factor * power >= rough * (1 - 1e-9)) step = factor * power;
  }
  std::vector<double> ticks;
  const auto steps = static_cast<unsigned>(std::ceil(max_value / step - 1e-9));
  for (unsigned i = 0; i <= steps; ++i) ticks.push_back(i * step);
  return ticks;
}

std::string short_quantity(double value) {
  if (value >= 1e6) return fmt::format("{:.3g} M", value / 1e6);
  if (value >= 1e4) return fmt::format("{:.3g} k", value / 1e3);
  if (value == std::floor(value) || value >= 100) {
    return grouped(static_cast<std::uint64_t>(std::llround(value)));
  }
  return value < 1 ? fmt::format("{:.2g}", value) : fmt::format("{:.3g}", value);
}

}  // namespace feedrate::tools
