#include "tools/lab/bench/rate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/base/statistics.h"
#include "tools/console/text.h"
#include "tools/lab/bench/forecast.h"

namespace feedrate::tools {
using namespace formats;

namespace {

/// "95 % interval 4,950 to 5,074, spread 1.2 %". An interval of two repeats would say nothing.
std::string repeats_text(const Row& row) {
  if (row.repeats.size() < 2) return "spread unknown: one repeat";
  if (row.repeats.size() == 2) {
    const auto [low, high] = std::ranges::minmax(row.repeats);
    return fmt::format("{} and {}, spread {:.1f} %", quantity(low), quantity(high),
                       spread_percent(row));
  }
  const auto interval = mean_interval(row.repeats);
  return fmt::format("95 % interval {} to {}, spread {:.1f} %",
                     quantity(std::max(0.0, interval->low)), quantity(interval->high),
                     spread_percent(row));
}

}  // namespace

std::string rate_text(const Row& row) {
  std::string text =
      fmt::format("{} images/s ({})", quantity(row.images_per_second), repeats_text(row));
  if (const auto error = forecast_error_percent(row)) {
    text += fmt::format("; predicted {}, {:.1f} % too {}", quantity(*row.predicted),
                        std::abs(*error), *error < 0 ? "low" : "high");
  }
  return text;
}

}  // namespace feedrate::tools
