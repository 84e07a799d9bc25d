#pragma once
// Where values lie in a drawing, and the figures beside it. Pure functions.

#include <string>
#include <vector>

namespace feedrate::tools {

/// 0 and on in even steps of 1, 2, 2.5 or 5 times a power of ten, the last at `most` or above;
/// about `count` of them.
std::vector<double> even_ticks(double most, unsigned count = 5);

/// 12,500 → "12.5 k", 1,250,000 → "1.25 M", smaller numbers as they are.
std::string short_quantity(double value);

/// Moves places apart where they are nearer than `gap`, as little as it takes, within low … high
/// (which they may leave where there is no room); order is kept.
std::vector<double> spread_apart(std::vector<double> places, double gap, double low, double high);

}  // namespace feedrate::tools
