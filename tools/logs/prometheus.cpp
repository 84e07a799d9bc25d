// How training stands, in Prometheus' text format, for the node exporter's textfile collector
// (which wants a name that ends in .prom). A reader sees a whole file: the last one or this one.

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "formats/file.h"
#include "formats/replace.h"
#include "tools/logs/log.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

// Replacing a file waits for the disk, and scrapes come every few seconds at most.
constexpr std::chrono::seconds least_age{1};

/// As a label's value: backslashes, quotes and line ends are written with a backslash.
std::string escaped(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c == '\\' || c == '"') plain += '\\';
    if (c == '\n') {
      plain += "\\n";
    } else {
      plain += c;
    }
  }
  return plain;
}

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
    labels_ = fmt::format(R"({{network="{}",device="{}",dataset="{}"}})", escaped(run.network),
                          escaped(run.device), escaped(run.dataset));
    running_ = true;
    write();
  }
  void progress(const LoggedProgress& progress) override {
    progress_ = progress;
    if (std::chrono::steady_clock::now() - written_ >= least_age) write();
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
    std::string text;
    const auto add = [&](const char* name, const char* type, const char* help, double value) {
      text += fmt::format("# HELP feedrate_{0} {1}\n# TYPE feedrate_{0} {2}\nfeedrate_{0}{3} {4}\n",
                          name, help, type, labels_, number(value));
    };
    add("train_running", "gauge", "1 while training goes on, 0 when it has ended.", running_);
    if (progress_) {
      const TrainOptions::Progress& at = progress_->now;
      add("train_steps_total", "counter", "Steps done.", static_cast<double>(at.step));
      add("train_epoch", "gauge", "The epoch at work, from 0.", static_cast<double>(at.epoch));
      add("train_loss", "gauge", "Mean training loss since the report before.", at.loss);
      add("train_top1_ratio", "gauge", "Share of training images recognised.", at.accuracy);
      add("train_top5_ratio", "gauge", "The same among the five best.", at.accuracy5);
      add("train_images_per_second", "gauge", "Training rate.", at.images_per_second);
      add("train_stall_ratio", "gauge", "Share of the time spent waiting for data.",
          at.stall_percent / 100);
      add("train_learning_rate", "gauge", "Learning rate of the last step.", progress_->rate);
    }
    if (validation_) {
      const Evaluation& found = validation_->evaluation;
      add("validation_loss", "gauge", "Mean loss of the last validation.", found.loss);
      add("validation_top1_ratio", "gauge", "Share of validation images recognised.",
          found.accuracy);
      add("validation_top5_ratio", "gauge", "The same among the five best.", found.accuracy5);
    }
    write_text(path_, text);
    written_ = std::chrono::steady_clock::now();
  }
  /// What C++ calls inf and nan, Prometheus does too, with a capital letter.
  static std::string number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
    return fmt::format("{}", value);
  }

  fs::path path_;
  std::string labels_;
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

}  // namespace feedrate
