#include "formats/base/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace feedrate::formats {

namespace {

struct Mean {
  double value = 0;
  double variance = 0;  // of the mean itself
};

/// Of at least two values.
Mean mean_of(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, squares / (count - 1) / count};
}

/// Of Student's t distribution within ± √degrees · tan(angle): the finite sums 26.7.3 and 26.7.4 of Abramowitz
/// and Stegun.
double share_within(double angle, std::size_t degrees) {
  const double sine = std::sin(angle), cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1, sum = 0;
  for (std::size_t k = odd ? 3 : 2; k <= degrees; k += 2) {
    sum += term;
    term *= cosine * cosine * static_cast<double>(k - 1) / static_cast<double>(k);
  }
  return odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
}

}  // namespace

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

double student_t(std::size_t degrees, double outside) {
  constexpr std::size_t most_degrees = 1000;
  constexpr int halvings = 60;
  degrees = std::min(degrees, most_degrees);
  double low = 0, high = std::numbers::pi / 2;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    (share_within(middle, degrees) < 1 - outside ? low : high) = middle;
  }
  return std::sqrt(static_cast<double>(degrees)) * std::tan(low);
}

std::optional<Interval> mean_interval(std::span<const double> values, double outside) {
  if (values.size() < 2) return std::nullopt;
  const Mean mean = mean_of(values);
  const double half = student_t(values.size() - 1, outside) * std::sqrt(mean.variance);
  return Interval{mean.value - half, mean.value + half};
}

std::optional<Interval> ratio_interval(std::span<const double> before,
                                       std::span<const double> after, double outside) {
  std::array<Mean, 2> means;
  double sum = 0, weighted = 0;  // of the variances; of their squares, by degrees of freedom
  for (std::size_t i = 0; i < 2; ++i) {
    const std::span<const double> values = i == 0 ? before : after;
    if (values.size() < 2 || std::ranges::min(values) <= 0) return std::nullopt;
    std::vector<double> logarithms;
    for (const double value : values) logarithms.push_back(std::log(value));
    means[i] = mean_of(logarithms);
    sum += means[i].variance;
    weighted += means[i].variance * means[i].variance / static_cast<double>(values.size() - 1);
  }
  const double difference = means[1].value - means[0].value;
  if (sum <= 0) return Interval{std::exp(difference), std::exp(difference)};
  // Welch and Satterthwaite's degrees of freedom, rounded down: a wider interval. At most as many as if both had
  // as few values as the smaller, whose scatter may be small by chance and would then not count.
  const auto most = static_cast<double>(2 * (std::min(before.size(), after.size()) - 1));
  const auto degrees = static_cast<std::size_t>(std::clamp(sum * sum / weighted, 1.0, most));
  const double half = student_t(degrees, outside) * std::sqrt(sum);
  return Interval{std::exp(difference - half), std::exp(difference + half)};
}

std::optional<Interval> paired_ratio_interval(std::span<const double> before,
                                              std::span<const double> after, double outside) {
  if (before.size() != after.size()) return std::nullopt;
  std::vector<double> logarithms;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!(before[i] > 0) || !(after[i] > 0)) return std::nullopt;
    logarithms.push_back(std::log(after[i] / before[i]));
  }
  const std::optional<Interval> found = mean_interval(logarithms, outside);
  if (!found) return std::nullopt;
  return Interval{std::exp(found->low), std::exp(found->high)};
}

}  // namespace feedrate::formats
