#pragma once
// What repeated measurements tell of the value behind them. Pure functions.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace feedrate::formats {

/// The middle one, or the mean of the two in the middle; 0 of none.
double median(std::vector<double> values);

/// (largest − smallest) / median, of at least one.
double relative_spread(const std::vector<double>& values);

/// Where 95 % of Student's t distribution lie: within ± this. `degrees` of freedom, at least 1.
double student_t(std::size_t degrees);

struct Interval {
  double low = 0;
  double high = 0;
};

/// Where the mean of endless repeats lies with 95 % confidence, by Student's t; nothing for fewer
/// than two values, of which nobody can tell. May begin below 0 where few values differ much.
std::optional<Interval> mean_interval(std::span<const double> values);

}  // namespace feedrate::formats
