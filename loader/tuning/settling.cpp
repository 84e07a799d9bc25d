#include "loader/tuning/settling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "formats/base/statistics.h"

namespace feedrate::loader {
using namespace formats;

namespace {

// Shorter slices would show single batches rather than the rate.
constexpr double min_slice = 0.1;  // seconds
constexpr std::size_t max_slices = 40;
constexpr std::size_t min_slices = 8;
constexpr double negligible = 0.01;  // of the rate

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sum_of_squares(std::span<const double> values, double around) {
  double sum = 0;
  for (const double value : values) sum += (value - around) * (value - around);
  return sum;
}

// Whether the line that fits the rates best has a significant slope.
bool has_trend(std::span<const double> rates) {
  const auto count = static_cast<double>(rates.size());
  const double middle = (count - 1) / 2, level = mean(rates);
  double spread = 0, slope = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    const double at = static_cast<double>(i) - middle;
    spread += at * at;
    slope += at * (rates[i] - level);
  }
  slope /= spread;
  if (std::abs(slope) * (count - 1) <= negligible * level) return false;
  const double unexplained = std::max(0.0, sum_of_squares(rates, level) - slope * slope * spread);
  const double error = std::sqrt(unexplained / (count - 2) / spread);
  return std::abs(slope) > student_t(rates.size() - 2) * error;
}

// Whether the first rate is significantly far from the mean of the others. has_trend() misses a
// single outlier at the start, which raises the scatter along with the slope.
bool first_is_outlier(std::span<const double> rates) {
  const auto others = rates.subspan(1);
  const auto count = static_cast<double>(others.size());
  const double level = mean(others);
  const double distance = std::abs(rates.front() - level);
  if (distance <= negligible * level) return false;
  const double deviation = std::sqrt(sum_of_squares(others, level) / (count - 1));
  return distance > student_t(others.size() - 1) * deviation * std::sqrt(1 + 1 / count);
}

}  // namespace

Marks::Marks(double run_seconds) {
  if (!(run_seconds > 0)) return;
  spacing_ = std::max(min_slice, run_seconds / max_slices);
  marks_.reserve(max_slices + 2);
}

bool Marks::are_due(double seconds) const {
  if (marks_.size() == marks_.capacity()) return false;
  return marks_.empty() || seconds - marks_.back().seconds >= spacing_;
}

void Marks::add(const Mark& mark) {
  if (are_due(mark.seconds)) marks_.push_back(mark);
}

std::optional<std::size_t> settled_from(std::span<const Mark> marks) {
  if (marks.size() < min_slices + 1) return std::nullopt;
  std::vector<double> rates;
  for (std::size_t i = 1; i < marks.size(); ++i) {
    // Negative when fewer images have been taken so far than were ready at the start.
    const double images =
        static_cast<double>(marks[i].images) - static_cast<double>(marks[i - 1].images);
    rates.push_back(images / (marks[i].seconds - marks[i - 1].seconds));
  }
  const std::size_t half = rates.size() / 2;
  for (std::size_t from = 0; from < half; ++from) {
    const auto rest = std::span<const double>(rates).subspan(from);
    if (!has_trend(rest) && !first_is_outlier(rest)) return from;
  }
  return half;
}

}  // namespace feedrate::loader
