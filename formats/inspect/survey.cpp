#include "formats/inspect/survey.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

struct Look {
  enum class Result : std::uint8_t { none, read, unreadable };
  Result result = Result::none;
  std::int32_t label = 0;
  Shape shape;
  std::uint64_t bytes = 0;
  const Codec* codec = nullptr;
};

// One sample that was read, and what was found.
struct Place {
  std::uint64_t index = 0;
  Look look;
};

// Why the first sample by index could not be read. Reading it again could end in another way.
class FirstProblem {
 public:
  void add(std::uint64_t index, const Error& error) {
    const std::lock_guard lock(mutex_);
    if (index >= index_) return;
    index_ = index;
    text_ = error.what();
  }
  std::string text() && { return std::move(text_); }

 private:
  std::mutex mutex_;
  std::uint64_t index_ = std::numeric_limits<std::uint64_t>::max();
  std::string text_;  // empty: there is none
};

// Throws Error where a server fails, which is no damage of the sample.
Look look_at(const Dataset& dataset, std::uint64_t index, Scratch& scratch, FirstProblem& problem) {
  forget_failed_late_bytes();
  try {
    const Sample sample = dataset.read(index, scratch);
    return {Look::Result::read, sample.label, sample.shape, sample.bytes.size(), sample.codec};
  } catch (const Error& error) {
    if (late_bytes_failed()) throw;
    problem.add(index, error);
    return {Look::Result::unreadable, 0, {}, 0, nullptr};
  }
}

std::vector<Place> read_places(const Dataset& dataset, const SurveyLimits& limits,
                               const ProgressCallback& progress, FirstProblem& problem) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const std::uint64_t size = dataset.size();
  const bool all = limits.samples == 0 || limits.samples >= size;
  std::vector<Place> places(all ? size : limits.samples);
  std::vector<Scratch> scratch(std::max(1U, limits.threads));
  const auto out_of_time = [&] {
    return limits.seconds > 0 &&
           std::chrono::duration<double>(Clock::now() - start).count() > limits.seconds;
  };
  sweep(
      places.size(), static_cast<unsigned>(scratch.size()),
      [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
        for (std::uint64_t turn = begin; turn < end && !out_of_time(); ++turn) {
          // Without a time limit, the order of the files is the fastest.
          const bool in_order = all && limits.seconds == 0;
          const std::uint64_t index = in_order ? turn : evenly_spread(turn, size);
          places[turn] = {index, look_at(dataset, index, scratch[worker], problem)};
        }
      },
      progress);
  std::erase_if(places, [](const Place& p) { return p.look.result == Look::Result::none; });
  std::ranges::sort(places, {}, &Place::index);
  return places;
}

}  // namespace

Quantiles quantiles(std::vector<std::uint64_t> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto at = [&](std::uint64_t hundredths) {
    return values[((values.size() - 1) * hundredths + 50) / 100];
  };
  return {at(0), at(5), at(50), at(95), at(100)};
}

// Steps of the golden ratio times the size always land in the largest gap. A step coprime to the
// size meets every sample once.
std::uint64_t evenly_spread(std::uint64_t turn, std::uint64_t size) {
  auto step = static_cast<std::uint64_t>(static_cast<double>(size) * 0.6180339887498949);
  while (std::gcd(step, size) != 1) ++step;
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(turn) * step % size);
}

Survey survey(const Dataset& dataset, const SurveyLimits& limits,
              const ProgressCallback& progress) {
  Survey survey;
  std::vector<std::uint64_t> heights, widths, bytes;
  FirstProblem problem;
  for (const auto& [index, look] : read_places(dataset, limits, progress, problem)) {
    if (look.result == Look::Result::unreadable) {
      ++survey.unreadable;
      continue;
    }
    survey.samples.push_back({index, look.label, look.bytes, look.shape.bytes()});
    ++survey.class_counts[look.label];
    ++survey.codecs[std::string(look.codec->name())];
    survey.grey += look.shape.channels == 1 ? 1 : 0;
    survey.total_bytes += look.bytes;
    heights.push_back(look.shape.height);
    widths.push_back(look.shape.width);
    bytes.push_back(look.bytes);
  }
  survey.first_unreadable = std::move(problem).text();
  survey.heights = quantiles(std::move(heights));
  survey.widths = quantiles(std::move(widths));
  survey.bytes = quantiles(std::move(bytes));
  return survey;
}

}  // namespace feedrate::formats
