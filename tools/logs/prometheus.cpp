// How training stands, in Prometheus' text format, for the node exporter's textfile collector
// (which wants a name that ends in .prom). A reader sees a whole file: the last one or this one.

#include <chrono>
#include <optional>

#include "formats/base/error.h"
#include "formats/io/file.h"
#include "formats/io/replace.h"
#include "tools/logs/log.h"
#include "tools/logs/prometheus_text.h"

namespace feedrate::tools {
using namespace formats;
using namespace trainer;

namespace {

namespace fs = std::filesystem;

// Replacing a file waits for the disk, and scrapes come every few seconds at most.
constexpr std::chrono::seconds least_age{1};

class PrometheusLog final : public TrainingLog {
 public:
  explicit PrometheusLog(const fs::path& path) : path_(path) { replaceable(path); }
  ~PrometheusLog() override {
    try {
      if (running_) stops();
    } catch (const Error&) {
      // The reason why training ended is told already.
    }
  }

  void begins(const LoggedRun& run) override {
    text_ = PrometheusText(
        {{"network", run.network}, {"device", run.device}, {"dataset", run.dataset}});
    running_ = true;
    write();
  }
  void progress(const LoggedProgress& progress) override {
    progress_ = progress;
    if (std::chrono::steady_clock::now() - written_ < least_age) return;
    try {
      write();
    } catch (const Error&) {
      // A disk may be full for a while: no reason to end a training. The end tries again.
    }
  }
  void validated(const LoggedValidation& validation) override {
    validation_ = validation;
    write();
  }
  void ends() override { stops(); }

 private:
  void stops() {
    running_ = false;
    write();
  }
  void write() {
    text_.gauge("train_running", "1 while training goes on, 0 when it has ended.", running_);
    if (progress_) {
      const TrainOptions::Progress& at = progress_->now;
      text_.counter("train_steps_total", "Steps done.", static_cast<double>(at.step));
      text_.gauge("train_epoch", "The epoch at work, from 0.", static_cast<double>(at.epoch));
      text_.gauge("train_loss", "Mean training loss since the report before.", at.loss);
      text_.gauge("train_top1_ratio", "Share of training images recognised.", at.accuracy);
      text_.gauge("train_top5_ratio", "The same among the five best.", at.accuracy5);
      text_.gauge("train_images_per_second", "Training rate.", at.images_per_second);
      text_.gauge("train_stall_ratio", "Share of the time spent waiting for data.",
                  at.stall_percent / 100);
      text_.gauge("train_learning_rate", "Learning rate of the last step.", progress_->rate);
    }
    if (validation_) {
      const Evaluation& found = validation_->evaluation;
      text_.gauge("validation_loss", "Mean loss of the last validation.", found.loss);
      text_.gauge("validation_top1_ratio", "Share of validation images recognised.",
                  found.accuracy);
      text_.gauge("validation_top5_ratio", "The same among the five best.", found.accuracy5);
    }
    write_text(path_, text_.take());
    written_ = std::chrono::steady_clock::now();
  }

  fs::path path_;
  PrometheusText text_;
  std::optional<LoggedProgress> progress_;
  std::optional<LoggedValidation> validation_;
  std::chrono::steady_clock::time_point written_{};
  bool running_ = false;
};

class PrometheusKind final : public LogKind {
 public:
  PrometheusKind()
      : LogKind("metrics", "Keep how it stands in a file for Prometheus (its name: *.prom)",
                "FILE") {}
  std::unique_ptr<TrainingLog> open(const fs::path& path) const override {
    return std::make_unique<PrometheusLog>(path);
  }
};

const PrometheusKind row;

}  // namespace

extern const LogKind& prometheus_log;
const LogKind& prometheus_log = row;

}  // namespace feedrate::tools
