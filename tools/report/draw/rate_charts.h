#pragma once
// The charts of a study over its thread counts. A part of charts.h.

#include "tools/report/draw/charts.h"

namespace feedrate::tools {

Chart delivered_chart(const Study& study, const Verdict& verdict);
Chart supply_chart(const Study& study, const Verdict& verdict);
Chart stall_chart(const Study& study);

}  // namespace feedrate::tools
