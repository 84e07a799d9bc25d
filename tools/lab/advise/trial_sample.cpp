#include "tools/lab/advise/trial_sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "formats/base/random.h"

namespace feedrate::tools {
using namespace formats;

namespace {

// Enough to exceed the processor's caches with small images, as the whole dataset would.
constexpr std::uint64_t max_decoded = std::uint64_t{256} << 20;  // bytes
constexpr std::uint64_t max_images = 100'000;
constexpr std::uint64_t min_images = 64;
constexpr unsigned draws = 256;

using Seen = std::vector<Survey::Seen>;

std::uint64_t trial_images(std::uint64_t size, const Survey& seen) {
  std::uint64_t decoded = 0;
  for (const Survey::Seen& one : seen.samples) decoded += one.decoded;
  const std::uint64_t mean = decoded / std::max<std::size_t>(1, seen.samples.size());
  return std::min(
      size, std::clamp(max_decoded / std::max<std::uint64_t>(1, mean), min_images, max_images));
}

struct Mean {
  double bytes = 0;
  double decoded = 0;
};

Mean mean_of(const Seen& all, std::size_t count) {
  Mean sum;
  for (std::size_t i = 0; i < count; ++i) {
    sum.bytes += static_cast<double>(all[i].bytes);
    sum.decoded += static_cast<double>(all[i].decoded);
  }
  return {sum.bytes / static_cast<double>(count), sum.decoded / static_cast<double>(count)};
}

// Twice the standard error of the mean size of `count` images drawn at random, as a share.
double chance_doubt(const Seen& all, double mean, std::uint64_t count) {
  double squares = 0;
  for (const Survey::Seen& one : all) {
    const double off = static_cast<double>(one.bytes) - mean;
    squares += off * off;
  }
  const double deviation = std::sqrt(squares / static_cast<double>(all.size()));
  return 2 * deviation / mean / std::sqrt(static_cast<double>(count));
}

// Draws again: moves `count` random images to the front of `all`.
void draw(Seen& all, std::uint64_t count, std::uint64_t key) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto left = static_cast<std::uint32_t>(all.size() - i);
    std::swap(all[i], all[i + below(random_bits(key, i), left)]);
  }
}

// For when too few images were seen to choose among them: evenly spread ones.
TrialSample spread_evenly(std::uint64_t size, const Seen& seen, std::uint64_t count) {
  TrialSample sample;
  for (std::uint64_t turn = 0; turn < count; ++turn) {
    sample.indices.push_back(evenly_spread(turn, size));
  }
  std::ranges::sort(sample.indices);
  sample.doubt = chance_doubt(seen, mean_of(seen, seen.size()).bytes, count);
  return sample;
}

TrialSample draw_balanced(std::uint64_t size, Seen seen, std::uint64_t count, std::uint64_t seed) {
  const Mean mean = mean_of(seen, seen.size());
  double nearest = std::numeric_limits<double>::infinity();
  Seen chosen;
  for (unsigned number = 0; number < draws; ++number) {
    draw(seen, count, random_bits(seed, number));
    const Mean drawn = mean_of(seen, count);
    const double off = std::hypot(drawn.bytes / mean.bytes - 1, drawn.decoded / mean.decoded - 1);
    if (off >= nearest) continue;
    nearest = off;
    chosen.assign(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(count));
  }
  std::ranges::sort(chosen, {}, &Survey::Seen::index);
  TrialSample sample;
  for (const Survey::Seen& one : chosen) {
    sample.indices.push_back(one.index);
    sample.bytes.push_back(one.bytes);
  }
  const double of_seen = seen.size() < size ? chance_doubt(seen, mean.bytes, seen.size()) : 0;
  sample.doubt = std::hypot(nearest, of_seen);
  return sample;
}

}  // namespace

TrialSample draw_trial_sample(std::uint64_t size, const Survey& seen, std::uint64_t seed) {
  const std::uint64_t count = trial_images(size, seen);
  if (count < size && !seen.samples.empty()) {
    return seen.samples.size() < 2 * count ? spread_evenly(size, seen.samples, count)
                                           : draw_balanced(size, seen.samples, count, seed);
  }
  TrialSample all;
  all.indices.resize(count);
  std::iota(all.indices.begin(), all.indices.end(), 0U);
  return all;
}

double unforeseen_doubt(const TrialSample& sample, const Survey& converted) {
  const auto count = static_cast<double>(converted.samples.size());
  if (count < 2) return 0;
  const auto before = [&](const Survey::Seen& one) {
    return one.index < sample.bytes.size() ? static_cast<double>(sample.bytes[one.index]) : 0;
  };
  double mean_before = 0;
  double mean = 0;
  for (const Survey::Seen& one : converted.samples) {
    mean_before += before(one) / count;
    mean += static_cast<double>(one.bytes) / count;
  }
  double variance_before = 0;
  double variance = 0;
  double covariance = 0;
  for (const Survey::Seen& one : converted.samples) {
    const double x = before(one) - mean_before;
    const double y = static_cast<double>(one.bytes) - mean;
    variance_before += x * x / count;
    variance += y * y / count;
    covariance += x * y / count;
  }
  const double explained = variance_before > 0 ? covariance * covariance / variance_before : 0;
  return 2 * std::sqrt(std::max(0.0, variance - explained) / count) / mean;
}

}  // namespace feedrate::tools
