// How a run stands in Prometheus' text format, for the node exporter's textfile collector (which
// wants a name that ends in .prom):
//
//   # HELP feedrate_train_loss Mean training loss since the report before.
//   # TYPE feedrate_train_loss gauge
//   feedrate_train_loss{network="lenet"} 2.5

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/cli/text.h"
#include "tools/logs/event.h"

namespace feedrate::tools {
namespace {

/// Shown from the first event of its type on that has the key. What only grows ends in "_total".
struct Metric {
  std::string_view name, help, event{}, key{};
  double unit = 1;
};
constexpr Metric metrics[] = {
    {"load_threads", "Loader threads at work.", "progress", "threads"},
    {"load_images_total", "Images handed out.", "progress", "images"},
    {"load_batches_total", "Batches handed out.", "progress", "batches"},
    {"load_read_bytes_total", "Encoded bytes read.", "progress", "bytes_read"},
    {"load_wait_seconds_total", "Time that the consumer waited.", "progress", "wait_seconds"},
    {"load_read_seconds_total", "Workers' time spent reading.", "progress", "busy_read"},
    {"load_decode_seconds_total", "Workers' time spent decoding.", "progress", "busy_decode"},
    {"load_augment_seconds_total", "Workers' time spent augmenting.", "progress", "busy_augment"},
    {"load_bad_seats_total", "Seats of bad samples, replaced or skipped.", "progress", "bad_seats"},
    {"train_steps_total", "Steps done.", "progress", "step"},
    {"train_epoch", "The epoch at work, from 0.", "progress", "epoch"},
    {"train_loss", "Mean training loss since the report before.", "progress", "loss"},
    {"train_top1_ratio", "Share of training images recognised.", "progress", "accuracy"},
    {"train_top5_ratio", "The same among the five best.", "progress", "accuracy5"},
    {"train_images_per_second", "Training rate.", "progress", "images_per_second"},
    {"train_stall_ratio", "Share of the time spent waiting for data.", "progress", "stall_percent",
     100},
    {"train_learning_rate", "Learning rate of the last step.", "progress", "learning_rate"},
    {"validation_loss", "Mean loss of the last validation.", "validation", "loss"},
    {"validation_top1_ratio", "Share of validation images recognised.", "validation", "accuracy"},
    {"validation_top5_ratio", "The same among the five best.", "validation", "accuracy5"}};

/// What C++ calls inf and nan, Prometheus calls by other names.
std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

/// Those that the run has, as 'name="value",…'. Backslashes, quotes and line ends are written with
/// a backslash. A reader refuses the whole file for one byte that is no UTF-8.
std::string labels(const Event& event) {
  std::string text;
  for (const std::string_view key : {"network", "device", "dataset"}) {
    const Value* value = event.find("start", key);
    if (!value) continue;
    text += fmt::format("{}{}=\"", text.empty() ? "" : ",", key);
    for (const char c : as_utf8(std::get<std::string>(*value))) {
      if (c == '\\' || c == '"' || c == '\n') text += '\\';
      text += c == '\n' ? 'n' : c;
    }
    text += '"';
  }
  return text;
}

}  // namespace

std::string prometheus_metrics(const Event& event) {
  constexpr std::string_view told[] = {"start", "progress", "validation", "end"};
  if (std::ranges::find(told, event.type) == std::end(told)) return {};
  if (!event.last.contains("start")) return {};  // it never began
  const bool trains = event.find("start", "network") != nullptr;
  std::string text;
  const auto add = [&, shared = labels(event)](const Metric& metric, double value) {
    const std::string_view type = metric.name.ends_with("_total") ? "counter" : "gauge";
    text +=
        fmt::format("# HELP feedrate_{0} {1}\n# TYPE feedrate_{0} {2}\nfeedrate_{0}{{{3}}} {4}\n",
                    metric.name, metric.help, type, shared, number(value / metric.unit));
  };
  const double running = event.type == "end" ? 0 : 1;
  if (trains) add({"train_running", "1 while training goes on, 0 when it has ended."}, running);
  if (!trains) add({"load_running", "1 while loading goes on, 0 when it has ended."}, running);
  for (const Metric& metric : metrics) {
    if (event.find(metric.event, metric.key)) add(metric, event.number(metric.event, metric.key));
  }
  return text;
}

}  // namespace feedrate::tools
