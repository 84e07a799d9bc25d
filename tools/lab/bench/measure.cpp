#include "tools/lab/bench/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "formats/base/error.h"
#include "formats/base/statistics.h"
#include "tools/console/console.h"
#include "tools/console/json_fields.hpp"
#include "tools/console/text.h"
#include "tools/lab/jobs/cold.h"

namespace feedrate::tools {
using namespace formats;

namespace {

constexpr double micro = 1e6;

std::optional<double> in_micro(std::optional<double> seconds) {
  if (seconds) *seconds = rounded(*seconds * micro, 3);
  return seconds;
}

/// Nothing where the key is absent or null. A value of another type throws the library's exception.
template <class T>
std::optional<T> if_known(const nlohmann::ordered_json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  return found->template get<T>();
}

/// Microseconds that a worker spent on an image in a stage; absent where no loader reported it.
std::optional<double> busy_us(const nlohmann::ordered_json& object, const char* stage) {
  const auto busy = object.find("busy");
  const auto images = if_known<double>(object, "images");
  if (busy == object.end() || !busy->is_object() || !images || *images <= 0) return {};
  auto seconds = if_known<double>(*busy, stage);
  if (seconds) *seconds /= *images;
  return in_micro(seconds);
}

/// Why a cold measurement was partly warm; "" when it was cold. The measuring process warns too,
/// but its stderr is captured.
std::string warmth(const nlohmann::ordered_json& object) {
  std::string text;
  const double in_memory = if_known<double>(object, "in_memory").value_or(0);
  if (in_memory > cold_share) {
    text = fmt::format("; {:.0f} % of the dataset was still in memory", 100 * in_memory);
  }
  const double epochs = if_known<double>(object, "epochs").value_or(0);
  if (epochs > 1) {
    text += fmt::format("; of {:.1f} epochs, only the first came from the disk", epochs);
  }
  return text;
}

}  // namespace

Measurement::Repeat Measurement::measure_once(const BenchPoint& point, const BenchOptions& options,
                                              const Runner& runner) {
  const Finished finished = runner(point.command(options));
  const auto object = nlohmann::ordered_json::parse(finished.output);
  Repeat repeat{.row = point.row, .warmth = {}};
  Row& row = repeat.row;
  if (row.cache == cold_cache) repeat.warmth = warmth(object);
  const auto rate = if_known<double>(object, "images_per_second");
  if (!rate) throw Error(join(point.title(), ": too short for a rate; give it more seconds"));
  row.images_per_second = rounded(*rate, 3);
  row.warmup_seconds = if_known<double>(object, "warmup_seconds");
  row.cpu_us = in_micro(if_known<double>(object, "cpu_seconds_per_image"));
  row.kernel_us = in_micro(if_known<double>(object, "kernel_seconds_per_image"));
  if (row.kind == delivered_kind) {
    row.stall_percent = if_known<double>(object, "stall_percent");
    row.wait_ms = if_known<double>(object, "wait_ms_per_step");
  }
  if (!is_trainer_alone(row.kind)) {
    row.workers_seen = if_known<unsigned>(object, "workers_seen");
    row.read_us = busy_us(object, "read");
    row.decode_us = busy_us(object, "decode");
    row.augment_us = busy_us(object, "augment");
    if (const auto remote = object.find("remote"); remote != object.end() && !remote->is_null()) {
      for_each_field(row.remote.emplace(), ReadJson(*remote));
    }
  }
  for_each_field(row.telemetry, [&](const char* key, auto& value, const About&) {
    value = if_known<typename std::decay_t<decltype(value)>::value_type>(object, key);
  });
  return repeat;
}

void Measurement::repeat(const BenchOptions& options, const Runner& runner,
                         std::optional<double> predicted) {
  repeats_.push_back(measure_once(point_, options, runner));
  repeats_.back().row.predicted = predicted;
}

Row Measurement::row() const {
  std::vector<double> rates;
  std::vector<double> predictions;
  for (const Repeat& one : repeats_) {
    rates.push_back(one.row.images_per_second);
    if (one.row.predicted) predictions.push_back(*one.row.predicted);
  }
  const double rate = median(rates);
  const auto distance = [&](const Repeat& one) {
    return std::abs(one.row.images_per_second - rate);
  };
  const Repeat& middle = *std::ranges::min_element(repeats_, {}, distance);
  if (!middle.warmth.empty()) warn(fmt::format("{}{}", point_.title(), middle.warmth));
  Row row = middle.row;
  row.images_per_second = rate;
  row.repeats = std::move(rates);
  if (!predictions.empty()) row.predicted = rounded(median(predictions), 1);
  return row;
}

}  // namespace feedrate::tools
