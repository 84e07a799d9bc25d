#pragma once
// Statistics of repeated measurements. Pure functions.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace feedrate::formats {

/// The middle value, or the mean of the two middle ones; 0 for no values.
double median(std::vector<double> values);

/// (largest − smallest) / median of at least one value.
double relative_spread(const std::vector<double>& values);

/// Of an interval that a single question is answered by: it misses the truth so often.
inline constexpr double one_in_twenty = 0.05;

/// All but the share `outside` of Student's t distribution lies within ± this value. `degrees` of freedom, at
/// least 1; more than a thousand count as so many, which makes intervals 0.1 % wider.
double student_t(std::size_t degrees, double outside = one_in_twenty);

struct Interval {
  double low = 0;
  double high = 0;
};

/// Confidence interval of the mean, of 95 % where nothing else is asked, by Student's t; nothing for fewer than
/// two values. May begin below 0 where there are few values that differ much.
std::optional<Interval> mean_interval(std::span<const double> values,
                                      double outside = one_in_twenty);

/// Confidence interval of how many times as large `after` is as `before`: Welch's t interval
/// for the difference of their logarithms, with no more degrees of freedom than if both had as few values as
/// the smaller. Absent if either has fewer than two values, or a value that is not positive.
std::optional<Interval> ratio_interval(std::span<const double> before,
                                       std::span<const double> after,
                                       double outside = one_in_twenty);

/// The same of values that were measured in turns, so that the first of both saw one state of the
/// machine, and so on: by Student's t from the logarithms of their ratios. Absent if there are fewer
/// than two pairs, or not as many of each.
std::optional<Interval> paired_ratio_interval(std::span<const double> before,
                                              std::span<const double> after,
                                              double outside = one_in_twenty);

}  // namespace feedrate::formats
