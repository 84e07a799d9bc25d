#pragma once
// Ticks and labels of axes. Pure functions.

#include <string>
#include <vector>

namespace feedrate::tools {

/// About `count` ticks from 0 to `max_value` or just above, in even steps of 1, 2, 2.5 or 5 times a
/// power of ten.
std::vector<double> even_ticks(double max_value, unsigned count = 5);

/// 12,500 → "12.5 k", 1,250,000 → "1.25 M"; smaller numbers get no suffix.
std::string short_quantity(double value);

}  // namespace feedrate::tools
