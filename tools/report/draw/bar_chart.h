#pragma once
// Horizontal bars that show where the time of an image goes. Pure function.

#include <vector>

#include "tools/report/draw/svg.h"
#include "tools/report/study/attribution.h"

namespace feedrate::tools {

/// Stacks the parts in the order of `attribution_parts`, leaves out negligible ones, adds a legend.
Svg draw_times(std::string_view title, const std::vector<AttributedPoint>& bars);

}  // namespace feedrate::tools
