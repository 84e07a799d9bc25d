#pragma once
// The logs of a run, all written from one stream of events.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/lab/logs/log_file.h"

namespace feedrate::tools {

/// By name of the kind. A log whose path is absent or empty is not written.
using LogPaths = std::map<std::string_view, std::filesystem::path>;

/// One thread at a time. When a call returns, the operating system has the event. Throws Error when
/// a log cannot be written, except for progress() in a log that replaces its file: the next event
/// tries again.
class Logs {
 public:
  explicit Logs(const LogPaths& paths, EarlierLines earlier = EarlierLines::erase);
  /// Without a preceding end(), the logs say that the run was aborted.
  ~Logs();
  Logs(const Logs&) = delete;
  Logs& operator=(const Logs&) = delete;

  /// The run goes on from a checkpoint: what earlier ones logged beyond its step is void.
  void resume(std::uint64_t step, std::string checkpoint) {
    emit("resume", {{"step", step}, {"checkpoint", std::move(checkpoint)}});
  }
  /// Everything is ready; data is read from now on. An epoch has `per_epoch` steps.
  void begin(Fields run, std::uint64_t per_epoch = 1);
  /// Step `step`, counted from 0, has received its batch. Finds out where epochs begin and end.
  void step_begins(std::uint64_t step, std::uint32_t images);
  void progress(Fields progress) { emit("progress", std::move(progress)); }
  /// Between two training steps or after the last one.
  void validation_begins(std::uint64_t steps_done);
  void validated(Fields validation) { emit("validation", std::move(validation)); }
  void end();

 private:
  struct Epoch {
    std::uint64_t number;
    std::chrono::steady_clock::time_point start;
    std::uint64_t images = 0;
  };
  void emit(std::string_view type, Fields fields);
  void end_epoch();

  std::vector<std::unique_ptr<LogFile>> files_;
  Event event_;
  std::uint64_t per_epoch_ = 1;
  std::optional<Epoch> epoch_;  // the current one
};

}  // namespace feedrate::tools
