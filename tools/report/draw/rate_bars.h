#pragma once
// A study's rates as bars on a terminal: one line for each point. Pure.

#include <string>

#include "tools/report/study/study.h"
#include "tools/report/study/verdict.h"

namespace feedrate::tools {

/// Delivered (supply where nothing was trained) as a bar, demand as a line down through them,
/// what the loader alone supplies as a mark; "" for a study without points.
std::string rate_bars(const Study& study, const Verdict& verdict, std::size_t columns = 100);

}  // namespace feedrate::tools
