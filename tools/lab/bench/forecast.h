#pragma once
// Predicts delivered images/s from measured supply and demand. Pure functions.

#include <optional>
#include <span>

#include "tools/lab/measure/row.h"

namespace feedrate::tools {

/// Predicted images/s of the delivered `point`. Uses demand of the same training, and supply of the
/// same dataset, recipe, batch and cache at the fewest (1 or more) and the most threads measured. A
/// point without loader threads uses supply without threads where that was measured. Thread counts
/// are capped at `cores`. Nothing when a row is missing.
std::optional<double> forecast(const Row& point, std::span<const Row> rows, unsigned cores);

/// Error of the prediction in percent of the measured rate, positive when it was too high; nothing
/// where none was made.
std::optional<double> forecast_error_percent(const Row& row);

}  // namespace feedrate::tools
