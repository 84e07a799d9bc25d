#include "tools/lab/jobs/training.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "formats/base/error.h"
#include "formats/base/stop.h"
#include "tools/console/console.h"
#include "tools/console/text.h"
#include "tools/lab/jobs/agreement.h"
#include "tools/lab/jobs/checkpoints.h"
#include "tools/lab/jobs/cold.h"
#include "tools/lab/jobs/devices.h"
#include "tools/lab/jobs/feed.h"
#include "tools/lab/jobs/ranks.h"
#include "tools/lab/measure/environment.h"
#include "tools/lab/measure/sampler.h"
#include "trainer/communicators/communicator.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

constexpr std::uint64_t report_every = 100;     // steps
constexpr std::uint64_t batches_on_device = 2;  // a device works on them in turn

Fields description(const TrainingRequest& request, const Opened& opened) {
  const TrainRecipe& recipe = opened.recipe;
  Fields run = {{"run", "train"},
                {"dataset", shown_path(opened.dataset->info().path)},
                {"network", request.model.network},
                {"device", request.device.name},
                {"precision", request.device.precision},
                {"optimizer", std::string(recipe.update.optimizer)},
                {"recipe", std::string(opened.augmentation.name())},
                {"decode", std::string(name(request.feed.decode))},
                {"batch", recipe.batch},
                {"seed", request.seed},
                {"images", opened.epoch_images()},
                {"learning_rate", recipe.schedule.rate},
                {"momentum", recipe.update.momentum},
                {"decay", recipe.update.decay},
                {"warmup_epochs", recipe.warmup_epochs}};
  if (opened.validation) run.push_back({"validation_images", opened.validation->size()});
  if (request.data.cold) run.push_back({"cold", true});
  return run;
}

/// The training loop and what watches it: progress, logs, validations, checkpoints, telemetry.
class Training {
 public:
  Training(const TrainingRequest& request, const Opened& opened, const Steps& steps,
           Session& session, Logs& logs)
      : request_(request),
        opened_(opened),
        steps_(steps),
        session_(session),
        logs_(logs),
        start_(start_position(request, opened, steps, session)),
        saver_(request, session, start_, steps),
        title_(
            "train " + request.model.network +
            (request.feed.decode == Decode::device ? ", decoding on " + request.device.name : "")),
        progress_(title_, "steps"),
        sampler_(
            {.device = request.device.name, .transfers = [this] { return session_.transfers(); }}) {
    report_.run = describe(request, opened, session);
    report_.ranks = world().ranks();
    report_.optimizer = opened.recipe.update.optimizer;
  }

  /// All steps were done before.
  void say_nothing_is_left() const {
    expect_same_terms();
    note(fmt::format("{} stands at step {} of {}: nothing is left to do",
                     request_.files.resume.string(), start_.step, steps_.all));
    world().close();
  }

  void run(const LearningRate& rate) {
    expect_same_terms();
    if (request_.data.cold) make_cold(*opened_.dataset);
    const std::filesystem::path& resumed = request_.files.resume;
    if (!resumed.empty()) logs_.resume(start_.step, resumed.string());
    logs_.begin(description(request_, opened_), steps_.per_epoch);
    Feed feed(request_, opened_, loading(),
              {.asked = [&](std::uint64_t number) { sampler_.asked(number); },
               .came =
                   [&](std::uint64_t number, const Batch& batch) {
                     expect_batch_of_step(start_.step + number, batch);
                     logs_.step_begins(start_.step + number, batch.count * report_.ranks);
                   }});
    report_.result = train(session_, feed, training(rate));
    measure(feed.loader());
    const std::uint64_t done = start_.step + report_.result.steps;
    add_up_ranks(report_.result);
    saver_.save(done);
    const auto& validations = report_.validations;
    const bool unvalidated = validations.empty() || validations.back().step != done;
    const bool stopped = stop_requested_of_any() || report_.result.stopped;
    if (opened_.validation && unvalidated && !stopped) validate(done);
    report_.run.decoded = decoded_by(request_, session_);
    report_.run.remote = fetched_for(opened_);
    if (stop_requested_of_any() || stopped) {
      say_how_to_resume(done);  // the logs end as aborted
    } else {
      logs_.end();
    }
    world().close();
  }

  TrainingReport report() { return std::move(report_); }

 private:
  void expect_same_terms() const {
    if (world().ranks() > 1) expect_agreement(terms_of(request_, opened_, session_, start_));
  }

  LoaderOptions loading() const {
    LoaderOptions options = loader_options(request_, opened_, session_);
    options.epochs = 0;
    options.start = {.seed = start_.seed,
                     .epoch = start_.epoch,
                     .position = start_.batch * opened_.recipe.batch};
    options.order.last = steps_.left_out != 0 ? LastBatch::drop : LastBatch::partial;
    options.order.block = request_.feed.loader.shuffle_blocks;
    options.order.picks = opened_.picks.get();
    if (opened_.picks) options.order.shuffle = opened_.picks->needs_shuffle();
    return options;
  }

  /// A batch of which every image is skipped does not come at all. Without it, the steps of an epoch
  /// and those of other ranks would no longer be the same.
  void expect_batch_of_step(std::uint64_t step, const Batch& batch) const {
    if (request_.feed.resident || batch.number == step) return;
    throw Error(join("step ", step + 1,
                     ": every image of its batch is bad; --on-bad replace draws ", "others"));
  }

  TrainOptions training(const LearningRate& rate) {
    TrainOptions options;
    options.schedule = rate.schedule();
    options.update = update_settings(opened_.recipe);
    options.steps = steps_to_do();
    options.first_step = start_.step;
    options.seconds = request_.seconds;
    if (!request_.feed.uploads) options.uploads = batches_on_device;
    options.report_every = report_every;
    if (tells_epochs()) options.epoch_steps = steps_.per_epoch;
    options.progress = [this, &rate](const TrainOptions::Progress& now) {
      progress_.rename(fmt::format("{}  loss {:.4f}", title_, now.loss));
      progress_.update(now.step - start_.step, steps_to_do());
      if (tells_epochs()) say_of_epoch(now);
      logs_.progress(fields_of(of_all_ranks(now), rate.at(now.step - 1)));
    };
    options.warn = [](const std::string& sentence) { warn(sentence); };
    options.last_good = [this] { return saver_.last(); };
    options.pause_every = std::gcd(validate_every(), save_every());
    options.pause = [this](std::uint64_t steps) { pause(steps); };
    options.failed = [this](std::uint64_t steps) { save_what_there_is(steps); };
    options.stop = stop_of_all_ranks;
    return options;
  }

  /// 0: until the time is up.
  std::uint64_t steps_to_do() const { return steps_.all == 0 ? 0 : steps_.all - start_.step; }
  std::uint64_t validate_every() const {
    return opened_.validation ? request_.validation.every * steps_.per_epoch : 0;
  }
  std::uint64_t save_every() const {
    return request_.files.checkpoint.empty() ? 0 : request_.files.save_every;
  }

  /// Not of epochs shorter than a report: their lines would come too fast to be read.
  bool tells_epochs() const { return !request_.feed.resident && steps_.per_epoch >= report_every; }

  /// A line when an epoch ends.
  void say_of_epoch(const TrainOptions::Progress& now) {
    const auto steps = static_cast<double>(now.steps);
    epoch_.steps += steps;
    epoch_.loss += now.loss * steps;
    epoch_.accuracy += now.accuracy * steps;
    if (now.step % steps_.per_epoch != 0) return;
    note(fmt::format("epoch {}: loss {:.4f}, top-1 {:.2f} %, means over {}",
                     now.step / steps_.per_epoch, epoch_.loss / epoch_.steps,
                     100 * epoch_.accuracy / epoch_.steps,
                     counted(static_cast<std::uint64_t>(epoch_.steps), "step")));
    epoch_ = {};
  }

  void say_how_to_resume(std::uint64_t steps_done) const {
    const std::string file = request_.files.checkpoint.string();
    if (file.empty()) {
      return note(fmt::format("interrupted after step {}; without --checkpoint nothing was saved",
                              steps_done));
    }
    note(fmt::format("interrupted after step {}; '{} --resume {}' goes on from there", steps_done,
                     request_.files.resume.empty() ? command_line() : "the same command with",
                     shell_word(file)));
  }

  /// Before an error is reported.
  void save_what_there_is(std::uint64_t steps) {
    if (diverged_ || request_.files.checkpoint.empty() || steps == start_.step) return;
    try {
      saver_.save(steps);
      say_how_to_resume(steps);
    } catch (const Error& error) {
      warn(error.what());  // the disk may be full
    }
  }

  void pause(std::uint64_t steps) {
    const auto due = [&](std::uint64_t every) { return every != 0 && steps % every == 0; };
    sampler_.enter(Section::paused);
    if (due(save_every())) saver_.save(steps);
    if (due(validate_every())) validate(steps);
    sampler_.enter(Section::measured);
  }

  void validate(std::uint64_t steps) {
    logs_.validation_begins(steps);
    LoaderOptions options = loader_options(request_, opened_, session_);
    options.order.shuffle = false;
    options.share.in_step = false;  // results are added up at the end
    Loader loader(*opened_.validation, opened_.augmentation.evaluation(), options);
    const Evaluation found = evaluate(session_, loader);
    if (stop_requested_of_any()) return;  // it saw only some of the images
    if (!std::isfinite(found.loss)) {
      diverged_ = true;
      throw Error(join("step ", steps,
                       ": the validation loss is not finite: the parameters have diverged; try a "
                       "lower learning rate"));
    }
    const std::uint64_t epochs = steps / steps_.per_epoch;
    report_.validations.push_back({steps, epochs, found});
    logs_.validated(fields_of(found, steps, epochs));
    note(fmt::format("step {}: validation loss {:.4f}, top-1 {:.2f} %", steps, found.loss,
                     100 * found.accuracy));
  }

  void measure(const Loader& loader) {
    report_.run.telemetry = sampler_.measured();
    report_.run.telemetry.planned_memory_mib = planned_mib(session_);
    report_.steps_recorded = session_.steps_recorded();
    report_.early_kernels = session_.early_kernels();
    report_.weight_branch = session_.weight_branch();
    if (report_.steps_recorded == false) {
      warn(join("steps could not be recorded as a CUDA graph (", session_.recording_problem(),
                "); their kernels were launched one by one"));
    }
    const LoaderStats stats = loader.stats();
    report_.run.threads = stats.threads;
    if (request_.feed.resident) return;
    report_.loader = stats;
    if (!request_.feed.loader.threads) report_.tuning = loader.tuning();
  }

  const TrainingRequest& request_;
  const Opened& opened_;
  const Steps& steps_;
  Session& session_;
  Logs& logs_;
  const Position start_;
  Saver saver_;
  const std::string title_;  // of the progress
  Progress progress_;
  Sampler sampler_;
  TrainingReport report_;
  bool diverged_ = false;
  struct {
    double steps = 0;
    double loss = 0;  // these two: sums over the steps
    double accuracy = 0;
  } epoch_;  // the current one
};

}  // namespace

TrainingReport run_training(const TrainingRequest& request) {
  const Opened opened = open(request);
  const Steps steps = count_steps(request, opened);
  const bool whole = is_whole(request, steps);  // then its logs have ended
  Logs logs(world().rank() == 0 && !whole ? request.files.logs : LogPaths{},
            request.files.resume.empty() ? EarlierLines::erase : EarlierLines::keep);
  const std::string advice = rate_advice(request);
  if (!advice.empty() && !request.feed.resident && world().rank() == 0) note(advice);
  if (steps.left_out != 0 && !request.feed.resident && world().rank() == 0) {
    warn(fmt::format(
        "each epoch leaves out its last {}, too few for {} ranks to have one each, or a group; one "
        "process would train them",
        counted(steps.left_out, "image"), world().ranks()));
  }
  const LearningRate rate(schedule_of(opened.recipe, steps.per_epoch, steps.all));
  const std::unique_ptr<Session> session = compile(request, opened);
  Training training(request, opened, steps, *session, logs);
  if (whole) {
    training.say_nothing_is_left();
  } else {
    training.run(rate);
  }
  return training.report();
}

}  // namespace feedrate::tools
