#pragma once
// The card that holds a chart: its width, the names in it, and where the entries of its legend stand. Pure
// functions.

#include <string>
#include <vector>

#include "tools/lab/report/draw/svg.h"

namespace feedrate::tools {

/// That of a phone, in pixels; wider screens show several charts beside each other.
inline constexpr double card_width = 340;
/// Where a chart ends in it.
inline constexpr double card_right = card_width - 12;

/// Cut in the middle where it is too long for a card.
std::string shown_name(const std::string& name);

/// Between a sample and its name, in pixels.
inline constexpr double legend_gap = 6;

/// The left end of each entry, a sample of that width and a name: from left to right, in as many lines as
/// needed below `first`.
std::vector<At> legend_places(const std::vector<std::string>& names, At first, double sample);

}  // namespace feedrate::tools
