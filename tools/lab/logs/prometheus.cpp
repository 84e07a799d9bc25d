// The state of a run in Prometheus' text format, for the node exporter's textfile collector, which
// reads files named *.prom:
//
//   # HELP feedrate_train_loss Mean training loss since the previous report.
//   # TYPE feedrate_train_loss gauge
//   feedrate_train_loss{network="lenet"} 2.5

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/console/text.h"
#include "tools/lab/logs/log_kind.h"

namespace feedrate::tools {
namespace {

/// Written once an event of its type has had the key. The name of a counter ends in "_total".
struct Metric {
  std::string_view name, help, event{}, key{};
  double unit = 1;
};
constexpr Metric metrics[] = {
    {"load_threads", "Loader threads in use.", "progress", "threads"},
    {"load_images_total", "Images handed out.", "progress", "images"},
    {"load_batches_total", "Batches handed out.", "progress", "batches"},
    {"load_read_bytes_total", "Encoded bytes read.", "progress", "bytes_read"},
    {"load_wait_seconds_total", "Time that the consumer waited.", "progress", "wait_seconds"},
    {"load_read_seconds_total", "Workers' time spent reading.", "progress", "busy_read"},
    {"load_decode_seconds_total", "Workers' time spent decoding.", "progress", "busy_decode"},
    {"load_augment_seconds_total", "Workers' time spent augmenting.", "progress", "busy_augment"},
    {"load_repeated_images_total", "Images that came again in their epoch.", "progress",
     "repeated_images"},
    {"load_bad_seats_total", "Places of bad samples, refilled or left out.", "progress",
     "bad_seats"},
    {"train_steps_total", "Steps done.", "progress", "step"},
    {"train_epoch", "Current epoch, counted from 0.", "progress", "epoch"},
    {"train_loss", "Mean training loss since the previous report.", "progress", "loss"},
    {"train_top1_ratio", "Top-1 accuracy on training images.", "progress", "accuracy"},
    {"train_top5_ratio", "Top-5 accuracy on training images.", "progress", "accuracy5"},
    {"train_images_per_second", "Training rate.", "progress", "images_per_second"},
    {"train_stall_ratio", "Share of the time spent waiting for data.", "progress", "stall_percent",
     100},
    {"train_learning_rate", "Learning rate of the last step.", "progress", "learning_rate"},
    {"validation_loss", "Mean loss of the last validation.", "validation", "loss"},
    {"validation_top1_ratio", "Top-1 accuracy on validation images.", "validation", "accuracy"},
    {"validation_top5_ratio", "Top-5 accuracy on validation images.", "validation", "accuracy5"}};

/// Prometheus' names of infinity and NaN are not those of C++.
std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

/// The labels of the run as 'name="value",…'; a backslash escapes backslashes, quotes and line
/// ends. Readers refuse a whole file for one byte that is not UTF-8.
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

std::string prometheus_metrics(const Event& event) {
  constexpr std::string_view written[] = {"start", "progress", "validation", "end"};
  if (std::ranges::find(written, event.type) == std::end(written)) return {};
  if (!event.last.contains("start")) return {};  // the run never began
  const bool trains = event.find("start", "network") != nullptr;
  std::string text;
  const auto add = [&, shared = labels(event)](const Metric& metric, double value) {
    const std::string_view type = metric.name.ends_with("_total") ? "counter" : "gauge";
    text +=
        fmt::format("# HELP feedrate_{0} {1}\n# TYPE feedrate_{0} {2}\nfeedrate_{0}{{{3}}} {4}\n",
                    metric.name, metric.help, type, shared, number(value / metric.unit));
  };
  const double running = event.type == "end" ? 0 : 1;
  if (trains) add({"train_running", "1 while training runs, 0 after its end."}, running);
  if (!trains) add({"load_running", "1 while loading runs, 0 after its end."}, running);
  for (const Metric& metric : metrics) {
    if (event.find(metric.event, metric.key)) add(metric, event.number(metric.event, metric.key));
  }
  return text;
}

}  // namespace

const LogKind prometheus_log{.name = "metrics",
                             .place = "FILE",
                             .summary = "Keep current metrics in a file for Prometheus (*.prom)",
                             .follows_load = true,
                             .replaces = true,
                             .bytes = prometheus_metrics};

}  // namespace feedrate::tools
