#include "trainer/loop/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/stop.h"
#include "formats/base/stopwatch.h"
#include "loader/tuning/settling.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

namespace {

constexpr double growth_to_warn_of = 1000;

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

// One run of train().
class Run {
 public:
  Run(Session& session, BatchSource& source, const TrainOptions& options)
      : session_(session),
        source_(source),
        options_(options),
        rate_(options.schedule),
        marks_(options.seconds) {
    session_.take_metrics();  // discards earlier steps
  }

  TrainResult go() {
    try {
      return run();
    } catch (...) {
      if (options_.failed && between_steps_) {
        session_.wait();
        if (!session_.divergence()) options_.failed(done());
      }
      throw;
    }
  }

 private:
  std::uint64_t done() const { return options_.first_step + result_.steps; }

  TrainResult run() {
    while (options_.steps == 0 || result_.steps < options_.steps) {
      const Batch* batch = next();
      if (batch == nullptr) break;
      step(*batch);
      const auto due = [this](std::uint64_t every, std::uint64_t steps) {
        return every != 0 && steps % every == 0;
      };
      if (due(options_.report_every, result_.steps) || due(options_.epoch_steps, done())) report();
      if (due(options_.pause_every, done())) pause();
      if (options_.stop && options_.stop(done())) {
        result_.stopped = true;
        break;
      }
    }
    session_.wait();
    refuse_divergence();
    result_.seconds = result_.steps > 1 ? since_first_.seconds() - paused_ : 0;
    if (window_images_ != 0) report();
    result_.images_after_first = result_.images - first_images_;
    time_between({0, first_images_, 0}, {result_.seconds, result_.images, result_.wait_seconds});
    leave_out_warmup();
    return std::move(result_);
  }

  const Batch* next() {
    const Stopwatch waiting;
    const Batch* batch = source_.next();
    if (result_.steps > 0) result_.wait_seconds += waiting.seconds();
    return batch;
  }

  void mark() {
    marks_.add({since_first_.seconds() - paused_, result_.images, result_.wait_seconds});
  }

  // Measures between two marks: a device that lags behind its caller lags equally at both.
  void leave_out_warmup() {
    const auto from = settled_from(marks_.all());
    if (!from) return;
    const Mark& begin = marks_.all()[*from];
    const Mark& end = marks_.all().back();
    result_.warmup_seconds = begin.seconds;
    if (*from > 0) time_between(begin, end);
  }

  void time_between(const Mark& begin, const Mark& end) {
    result_.timed_images = end.images - begin.images;
    result_.timed_seconds = end.seconds - begin.seconds;
    result_.images_per_second =
        ratio(static_cast<double>(result_.timed_images), result_.timed_seconds);
    result_.stall_percent = 100 * ratio(end.waited - begin.waited, result_.timed_seconds);
  }

  void step(const Batch& batch) {
    between_steps_ = false;
    const std::uint64_t number = done();
    const std::uint32_t images = take(batch);
    refuse_divergence();
    UpdateSettings update = options_.update;
    update.rate = rate_.at(number);
    session_.train_step(update, number);
    refuse_divergence();
    ++result_.steps;
    between_steps_ = true;
    result_.images += images;
    window_images_ += images;
    epoch_ = batch.epoch;
    if (result_.steps == 1) {  // the first step also warms up, so it is not timed
      take_first_metrics();
      first_images_ = untimed_images_ = result_.images;
      since_first_.restart();
      window_.restart();
    }
    mark();
  }

  // Uploads or reuses a batch; returns its number of images.
  std::uint32_t take(const Batch& batch) {
    if (options_.uploads != 0 && result_.steps >= options_.uploads) return session_.reuse_batch();
    session_.upload(batch);
    return batch.count;
  }

  void refuse_divergence() const {
    const std::optional<Divergence>& found = session_.divergence();
    if (!found) return;
    const std::string good = options_.last_good ? options_.last_good() : "";
    throw Error(
        join("step ", found->step,
             ": the loss is no longer finite; the first output that is not finite is that of ",
             found->layer,
             found->parameter.empty()
                 ? ""
                 : join(", whose ", found->parameter, " was not finite before the step"),
             "; ",
             good.empty() ? "there is no checkpoint to go back to; "
                          : join("go back to ", good, ", and "),
             "try a lower learning rate"));
  }

  // Neither the time nor the metrics of the callback are the training's: no clock counts it, and the
  // window goes on behind it.
  void pause() {
    held_ = take_metrics();
    refuse_divergence();
    const Stopwatch away;
    options_.pause(done());
    session_.take_metrics();
    window_paused_ += away.seconds();
    if (result_.steps > 1) paused_ += away.seconds();
    if (result_.steps == 1) since_first_.restart();
  }

  // Waits for the first step; the first report counts it too.
  void take_first_metrics() {
    held_ = session_.take_metrics();
    first_loss_ = ratio(held_.loss_sum, static_cast<double>(held_.images));
    const double guessing = std::log(static_cast<double>(session_.plan().graph.classes));
    max_loss_ = growth_to_warn_of * std::max(first_loss_, guessing);
  }

  Metrics take_metrics() {
    Metrics metrics = session_.take_metrics();
    const Metrics held = std::exchange(held_, {});
    metrics.images += held.images;
    metrics.correct += held.correct;
    metrics.correct5 += held.correct5;
    metrics.loss_sum += held.loss_sum;
    return metrics;
  }

  void warn_of_growth(const TrainOptions::Progress& now) {
    if (warned_ || !options_.warn || !(now.loss > max_loss_)) return;
    warned_ = true;
    options_.warn(fmt::format(
        "step {}: the loss has grown from {:.3g} to {:.3g}: training diverges; try a learning rate "
        "below {:.3g}, or pixels scaled to about -2 to 2 by --mean and --deviation",
        now.step, first_loss_, now.loss, options_.schedule.rate));
  }

  void report() {
    const Metrics metrics = take_metrics();
    refuse_divergence();
    const double images = static_cast<double>(metrics.images);
    const double seconds = window_.seconds() - std::exchange(window_paused_, 0);
    const TrainOptions::Progress progress{
        .step = done(),
        .steps = result_.steps - reported_steps_,
        .epoch = epoch_,
        .loss = ratio(metrics.loss_sum, images),
        .accuracy = ratio(static_cast<double>(metrics.correct), images),
        .accuracy5 = ratio(static_cast<double>(metrics.correct5), images),
        .images_per_second = ratio(static_cast<double>(window_images_ - untimed_images_), seconds),
        .stall_percent = 100 * ratio(result_.wait_seconds - reported_wait_, seconds)};
    window_images_ = untimed_images_ = 0;
    reported_wait_ = result_.wait_seconds;
    reported_steps_ = result_.steps;
    window_.restart();
    warn_of_growth(progress);
    result_.loss_steps = progress.steps;
    result_.loss = progress.loss;
    result_.accuracy = progress.accuracy;
    result_.accuracy5 = progress.accuracy5;
    if (options_.report_every == 0) return;
    result_.curve.push_back(progress);
    if (options_.progress) options_.progress(progress);
  }

  Session& session_;
  BatchSource& source_;
  const TrainOptions& options_;
  LearningRate rate_;
  TrainResult result_;
  bool between_steps_ = true;
  Stopwatch since_first_, window_;
  std::uint64_t first_images_ = 0, window_images_ = 0;
  std::uint64_t untimed_images_ = 0;  // of the first step, if it is in the window
  std::uint64_t epoch_ = 0;
  double paused_ = 0, window_paused_ = 0;  // seconds; the second: since the last report
  std::uint64_t reported_steps_ = 0;
  double reported_wait_ = 0;  // wait_seconds at the last report
  Metrics held_;              // of the first step or from before a pause, until they are reported
  double first_loss_ = 0;
  double max_loss_ = 0;  // more is a sign of divergence
  bool warned_ = false;
  Marks marks_;
};

}  // namespace

TrainResult train(Session& session, BatchSource& source, const TrainOptions& options) {
  return Run(session, source, options).go();
}

Evaluation evaluate(Session& session, BatchSource& source) {
  session.take_metrics();
  const Stopwatch all;
  while (const Batch* batch = source.next()) {
    if (stop_requested()) break;
    session.upload(*batch);
    session.evaluate_step();
  }
  const Metrics metrics = session.take_metrics();
  const double images = static_cast<double>(metrics.images);
  return {.images = metrics.images,
          .loss = ratio(metrics.loss_sum, images),
          .accuracy = ratio(static_cast<double>(metrics.correct), images),
          .accuracy5 = ratio(static_cast<double>(metrics.correct5), images),
          .seconds = all.seconds()};
}

}  // namespace feedrate::trainer
