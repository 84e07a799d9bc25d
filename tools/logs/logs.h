#pragma once
// All logs of one training, told together; where an epoch begins and ends is found here.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "tools/logs/log.h"

namespace feedrate::tools {

/// What a log is to be, and where; nowhere: not wanted.
struct WantedLog {
  const LogKind* kind;
  std::filesystem::path path;
};
/// Every kind, not wanted yet.
std::vector<WantedLog> no_logs();

class Logs {
 public:
  /// Opens those that are wanted. Throws Error when one cannot be written.
  explicit Logs(const std::vector<WantedLog>& wanted);

  /// `per_epoch`: steps.
  void begin(const LoggedRun& run, std::uint64_t per_epoch);
  /// Step number `step`, from 0, has its batch.
  void step_begins(std::uint64_t step, std::uint32_t images);
  void progress(const LoggedProgress& progress);
  /// Between two of training's steps, or at its end.
  void validation_begins(std::uint64_t steps_done);
  void validated(const LoggedValidation& validation);
  void end();

 private:
  template <class Tell>
  void tell(const Tell& how) {
    for (const auto& log : logs_) how(*log);
  }
  void end_epoch();

  struct Epoch {
    std::uint64_t number;
    std::chrono::steady_clock::time_point start;
    std::uint64_t images = 0;
  };
  std::vector<std::unique_ptr<TrainingLog>> logs_;
  std::uint64_t per_epoch_ = 1;
  std::optional<Epoch> epoch_;  // the open one
};

}  // namespace feedrate::tools
