#pragma once
// What other people's tools want to know of a training while it runs. A kind of log is a row:
// one file, and one line in log.cpp; `feedrate train` has an option of its name.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "formats/base/kind.h"
#include "trainer/loop/trainer.h"

namespace feedrate::tools {

/// What is known before the first batch.
struct LoggedRun {
  std::string dataset;  // path as given
  std::string network;
  std::string device;
  std::string precision;
  std::string optimizer;
  std::uint32_t batch = 0;
  std::uint64_t seed = 0;
  std::uint64_t images = 0;             // an epoch's
  std::uint64_t validation_images = 0;  // 0: there is no validation
  double rate = 0;                      // learning rate that the schedule starts from
  double momentum = 0;
  double decay = 0;
  double warmup_epochs = 0;
  bool cold = false;  // the system was made to forget the dataset
};

struct LoggedProgress {
  trainer::TrainOptions::Progress now;
  double rate = 0;  // learning rate of the last step
};

struct LoggedValidation {
  std::uint64_t step = 0;
  std::uint64_t epochs = 0;  // whole ones done
  trainer::Evaluation evaluation;
};

/// Told of each event when it happens, by the training's thread. Epochs count from 0. Destroyed
/// without ends(): the training failed.
class TrainingLog {
 public:
  virtual ~TrainingLog() = default;
  /// Everything is there; from now on data is read.
  virtual void begins(const LoggedRun&) {}
  virtual void epoch_begins(std::uint64_t /*epoch*/) {}
  virtual void progress(const LoggedProgress&) {}
  virtual void epoch_ends(std::uint64_t /*epoch*/, double /*images_per_second*/) {}
  virtual void validation_begins(std::uint64_t /*epochs*/) {}
  virtual void validated(const LoggedValidation&) {}
  virtual void ends() {}
};

class LogKind : public formats::Kind {
 public:
  LogKind(std::string_view name, std::string_view summary, std::string_view place)
      : formats::Kind(name, summary), place_(place) {}
  std::string_view place() const { return place_; }  // "FILE" or "DIR"
  /// Throws Error when nothing can be written there.
  virtual std::unique_ptr<TrainingLog> open(const std::filesystem::path& path) const = 0;

 private:
  std::string_view place_;
};

std::span<const LogKind* const> log_kinds();

}  // namespace feedrate::tools
