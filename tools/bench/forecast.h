#pragma once
// What a row of delivered images/s will come to, from the rows of supply and demand. Pure
// functions.

#include <optional>
#include <span>

#include "tools/measure/row.h"

namespace feedrate::tools {

/// images/s of the delivered `point`, from supply of the same dataset, recipe, batch and cache at
/// the fewest threads (from 1 on) and the most, and from the demand of the same training; without
/// loader threads from supply without any, where it was measured. More threads than `cores` count
/// as the cores. Nothing when a row is missing.
std::optional<double> forecast(const Run& point, std::span<const Run> rows, unsigned cores);

/// By how much the prediction was wrong, in percent of what came; nothing where none was made.
std::optional<double> forecast_error_percent(const Run& row);

}  // namespace feedrate::tools
