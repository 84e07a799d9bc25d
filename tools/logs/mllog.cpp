// MLPerf's log of a training, as its compliance checker and result summarizer parse it:
//
//   :::MLLOG {"namespace": "", "time_ms": …, "event_type": "INTERVAL_START", "key": "run_start",
//             "value": null, "metadata": {"file": …, "lineno": …}}
//
// Epochs count from 1 here. Lines are handed to the system one by one.

#include <chrono>
#include <nlohmann/json.hpp>
#include <source_location>

#include "formats/io/file.h"
#include "tools/logs/log.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using nlohmann::ordered_json;
using Where = std::source_location;

constexpr const char* start = "INTERVAL_START";
constexpr const char* stop = "INTERVAL_END";
constexpr const char* point = "POINT_IN_TIME";

class MlLog final : public TrainingLog {
 public:
  explicit MlLog(const std::filesystem::path& path) : file_(path) { line(start, "init_start"); }
  ~MlLog() override {
    try {
      if (running_) run_stops("aborted");
    } catch (const Error&) {
      // The reason why training ended is told already; a full disk is a lesser one.
    }
  }

  void begins(const LoggedRun& run) override {
    line(point, "submission_benchmark", run.network);
    if (run.cold) line(point, "cache_clear", true);
    line(point, "seed", run.seed);
    line(point, "global_batch_size", run.batch);
    line(point, "train_samples", run.images);
    if (run.validation_images != 0) line(point, "eval_samples", run.validation_images);
    line(point, "opt_name", run.optimizer);
    line(point, "opt_base_learning_rate", run.rate);
    line(point, "opt_momentum", run.momentum);
    line(point, "opt_weight_decay", run.decay);
    line(point, "opt_learning_rate_warmup_epochs", run.warmup_epochs);
    line(stop, "init_stop");
    line(start, "run_start");
    running_ = true;
  }
  void epoch_begins(std::uint64_t epoch) override {
    line(start, "epoch_start", nullptr, {{"epoch_num", epoch + 1}});
  }
  void progress(const LoggedProgress& progress) override {
    step_ = progress.now.step;
    line(point, "train_loss", progress.now.loss, {{"step", step_}});
  }
  void epoch_ends(std::uint64_t epoch, double images_per_second) override {
    line(stop, "epoch_stop", nullptr, {{"epoch_num", epoch + 1}});
    line(point, "tracked_stats", {{"throughput", images_per_second}}, {{"epoch_num", epoch + 1}});
  }
  void validation_begins(std::uint64_t epochs) override {
    line(start, "eval_start", nullptr, {{"epoch_num", epochs}});
  }
  void validated(const LoggedValidation& validation) override {
    const ordered_json after = {{"epoch_num", validation.epochs}};
    line(point, "eval_accuracy", validation.evaluation.accuracy, after);
    line(stop, "eval_stop", nullptr, after);
  }
  void ends() override {
    run_stops("success");
    file_.close();
  }

 private:
  void run_stops(const char* status, Where where = Where::current()) {
    running_ = false;
    line(stop, "run_stop", nullptr, {{"status", status}}, where);
  }
  void line(const char* type, const char* key, const ordered_json& value = nullptr,
            const ordered_json& more = ordered_json::object(), Where where = Where::current()) {
    using namespace std::chrono;
    const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch());
    ordered_json metadata = {{"file", "mllog.cpp"}, {"lineno", where.line()}};
    metadata.update(more);
    const ordered_json object = {{"namespace", ""},    {"time_ms", now.count()},
                                 {"event_type", type}, {"key", key},
                                 {"value", value},     {"metadata", metadata}};
    file_.write(":::MLLOG ");
    file_.write(object.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
    file_.write("\n");
    file_.flush();
  }

  OutputFile file_;
  std::uint64_t step_ = 0;
  bool running_ = false;
};

class MlLogKind final : public LogKind {
 public:
  MlLogKind() : LogKind("mllog", "Write what happens as MLPerf's :::MLLOG lines", "FILE") {}
  std::unique_ptr<TrainingLog> open(const std::filesystem::path& path) const override {
    return std::make_unique<MlLog>(path);
  }
};

const MlLogKind row;

}  // namespace

extern const LogKind& mllog_log;
const LogKind& mllog_log = row;

}  // namespace feedrate::tools
