// MLPerf's log of a training, as its compliance checker and result summarizer parse it:
//
//   :::MLLOG {"namespace": "", "time_ms": …, "event_type": "INTERVAL_START", "key": "run_start",
//             "value": null, "metadata": {"file": …, "lineno": …}}
//
// A resumed training goes on in the file with an init_start of its own, and lines of earlier ones
// beyond its init_checkpoint_step are void. Epochs count from 1 here. A "lineno" is a row of the
// table below, counted from 1.

#include <nlohmann/json.hpp>

#include "tools/lab/logs/log_kind.h"

namespace feedrate::tools {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view mark = ":::MLLOG ";
constexpr std::string_view start = "INTERVAL_START", stop = "INTERVAL_END", point = "POINT_IN_TIME";

/// Written for each event of a type; with `value_of`, only if the event has that key.
struct Line {
  std::string_view event;
  std::string_view type;
  std::string_view key;
  std::string_view value_of{};
  std::string_view metadata_of{};
};
constexpr Line lines[] = {{"init", start, "init_start"},
                          {"resume", point, "init_checkpoint_step", "step"},
                          {"start", point, "submission_benchmark", "network"},
                          {"start", point, "cache_clear", "cold"},
                          {"start", point, "seed", "seed"},
                          {"start", point, "global_batch_size", "batch"},
                          {"start", point, "train_samples", "images"},
                          {"start", point, "eval_samples", "validation_images"},
                          {"start", point, "opt_name", "optimizer"},
                          {"start", point, "opt_base_learning_rate", "learning_rate"},
                          {"start", point, "opt_momentum", "momentum"},
                          {"start", point, "opt_weight_decay", "decay"},
                          {"start", point, "opt_learning_rate_warmup_epochs", "warmup_epochs"},
                          {"start", stop, "init_stop"},
                          {"start", start, "run_start"},
                          {"epoch_start", start, "epoch_start", "", "epoch"},
                          {"progress", point, "train_loss", "loss", "step"},
                          {"epoch_end", stop, "epoch_stop", "", "epoch"},
                          {"epoch_end", point, "tracked_stats", "images_per_second", "epoch"},
                          {"validation_start", start, "eval_start", "", "epoch"},
                          {"validation", point, "eval_accuracy", "accuracy", "epoch"},
                          {"validation", stop, "eval_stop", "", "epoch"},
                          {"end", stop, "run_stop", "", "status"}};

ordered_json json_of(const Value& value) {
  return std::visit([](const auto& known) { return ordered_json(known); }, value);
}

ordered_json metadata(const Line& line, const Event& event) {
  ordered_json object = {{"file", "mllog.cpp"}, {"lineno", &line - lines + 1}};
  if (line.metadata_of.empty()) return object;
  const ordered_json value = json_of(*event.find(line.event, line.metadata_of));
  if (line.metadata_of != "epoch") {
    object[std::string(line.metadata_of)] = value;
  } else {  // the epoch of a validation counts those done, so it already counts from 1
    const bool done = line.event.starts_with("validation");
    object["epoch_num"] = value.get<std::uint64_t>() + (done ? 0 : 1);
  }
  return object;
}

std::string mllog_lines(const Event& event) {
  std::string text;
  if (event.type == "end" && !event.last.contains("start")) return text;  // the run never began
  const auto time = std::chrono::floor<std::chrono::milliseconds>(event.time.time_since_epoch());
  for (const Line& line : lines) {
    const Value* found = event.find(line.event, line.value_of);
    if (line.event != event.type || (!found && !line.value_of.empty())) continue;
    ordered_json value = found ? json_of(*found) : ordered_json(nullptr);
    if (line.key == "tracked_stats") value = {{"throughput", value}};
    const ordered_json object = {{"namespace", ""},         {"time_ms", time.count()},
                                 {"event_type", line.type}, {"key", line.key},
                                 {"value", value},          {"metadata", metadata(line, event)}};
    text += mark;
    text += object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    text += '\n';
  }
  return text;
}

}  // namespace

const LogKind mllog_log{.name = "mllog",
                        .place = "FILE",
                        .summary = "Write events as MLPerf :::MLLOG lines",
                        .follows_load = false,
                        .replaces = false,
                        .bytes = mllog_lines,
                        .line = mark};

}  // namespace feedrate::tools
