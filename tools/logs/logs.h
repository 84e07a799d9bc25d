#pragma once
// The logs that a run keeps, fed with one stream of events.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/logs/event.h"

namespace feedrate::tools {

struct LogKind {
  std::string_view name;   // of the option that asks for it
  std::string_view place;  // "FILE", or "DIR" in which each run has a file of its own
  std::string_view summary;
  bool follows_load;                   // and not only a training
  bool replaces;                       // the file has the bytes of the last event alone
  std::string (*bytes)(const Event&);  // of an event; "": none
};
/// One more is a line here and a function of event.h.
inline constexpr LogKind log_kinds[] = {
    {"log", "FILE", "Write what happens as JSON, a line an event", true, false, json_line},
    {"mllog", "FILE", "Write what happens as MLPerf's :::MLLOG lines", false, false, mllog_lines},
    {"tensorboard", "DIR", "Write scalars as an event file that TensorBoard shows", false, false,
     tensorboard_record},
    {"metrics", "FILE", "Keep how it stands in a file for Prometheus (its name: *.prom)", true,
     true, prometheus_metrics}};

/// By name of the kind; absent or "": not wanted.
using LogPaths = std::map<std::string_view, std::filesystem::path>;

/// One thread at a time. What a log has for an event is with the system when a call returns. Throws
/// Error when it cannot be written, but for progress in a file that the next event replaces.
class Logs {
 public:
  explicit Logs(const LogPaths& paths);
  /// Without end(): the run failed.
  ~Logs();
  Logs(const Logs&) = delete;
  Logs& operator=(const Logs&) = delete;

  /// Everything is there; from now on data is read. `per_epoch`: steps.
  void begin(Fields run, std::uint64_t per_epoch = 1);
  /// Step number `step`, from 0, has its batch. Where an epoch begins and ends is found here.
  void step_begins(std::uint64_t step, std::uint32_t images);
  void progress(Fields progress) { emit("progress", std::move(progress)); }
  /// Between two of training's steps, or at its end.
  void validation_begins(std::uint64_t steps_done);
  void validated(Fields validation) { emit("validation", std::move(validation)); }
  void end();

 private:
  struct File;
  struct Epoch {
    std::uint64_t number;
    std::chrono::steady_clock::time_point start;
    std::uint64_t images = 0;
  };
  void emit(std::string_view type, Fields fields);
  void end_epoch();

  std::vector<std::unique_ptr<File>> files_;
  Event event_;
  std::uint64_t per_epoch_ = 1;
  std::optional<Epoch> epoch_;  // the open one
};

}  // namespace feedrate::tools
