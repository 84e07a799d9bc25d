#pragma once
// Horizontal bars that show where the time of an image goes. Pure.

#include <vector>

#include "tools/report/draw/svg.h"
#include "tools/report/study/attribution.h"

namespace feedrate::tools {

/// Parts in the order of `attribution_parts`, with a key; what is negligible is not drawn.
Svg draw_times(std::string_view title, const std::vector<AttributedPoint>& bars);

}  // namespace feedrate::tools
