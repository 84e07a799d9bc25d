#include "formats/base/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace feedrate::formats {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double relative_spread(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return (*high - *low) / median(values);
}

double student_t(std::size_t degrees) {
  constexpr std::array few = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706,
                              2.4469,  2.3646, 2.3060, 2.2622};
  if (degrees <= few.size()) return few[degrees - 1];
  // The Cornish-Fisher expansion around the normal distribution: accurate to 0.0002 from here on.
  constexpr double z = 1.959964;
  constexpr double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  const auto n = static_cast<double>(degrees);
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

std::optional<Interval> mean_interval(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double half =
      student_t(values.size() - 1) * std::sqrt(squares / (count - 1)) / std::sqrt(count);
  return Interval{mean - half, mean + half};
}

}  // namespace feedrate::formats
