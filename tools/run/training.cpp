#include "tools/run/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "formats/dataset.h"
#include "formats/io/replace.h"
#include "loader/loader.h"
#include "tools/cli/console.h"
#include "tools/cli/text.h"
#include "tools/measure/sampler.h"
#include "tools/run/cold.h"
#include "tools/run/devices.h"
#include "tools/run/ranks.h"
#include "tools/run/time_limit.h"
#include "trainer/communicators/communicator.h"
#include "trainer/loop/checkpoint.h"
#include "trainer/networks/network.h"
#include "trainer/ops/pixels.h"
#include "trainer/presets/preset.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

constexpr std::uint64_t report_every = 100;
constexpr std::uint64_t batches_on_device = 2;  // as many as a device works on in turns

/// Where to go on, checked against what is trained now.
Position resume_position(const TrainingRequest& request, Session& session, const Position& now,
                         std::uint64_t batches_per_epoch) {
  const Position position = load_checkpoint(request.resume, session);
  if (position.seed != request.seed) {
    fail(request.resume, "was trained with --seed ", position.seed, "; give the same to go on");
  }
  if (position.batch_images != now.batch_images) {
    fail(request.resume, "was trained with --batch ", position.batch_images, ", not ",
         now.batch_images, "; give the same to go on");
  }
  if (position.dataset_images != now.dataset_images) {
    fail(request.resume, "was trained on a dataset of ", position.dataset_images,
         " images, not of ", now.dataset_images);
  }
  if (position.step != position.epoch * batches_per_epoch + position.batch) {
    fail(request.resume, "step ", position.step, " is not batch ", position.batch, " of epoch ",
         position.epoch, " with ", batches_per_epoch, " batches an epoch; is the file damaged?");
  }
  return position;
}

/// Steps in all; 0: until the time is up.
std::uint64_t all_steps(const TrainingRequest& request, const TrainRecipe& wanted,
                        std::uint64_t batches_per_epoch) {
  if (request.seconds > 0) return 0;
  if (request.steps > 0) return request.steps;
  if (request.epochs > 0) return request.epochs * batches_per_epoch;
  if (wanted.steps > 0) return wanted.steps;
  return std::max<std::uint64_t>(wanted.epochs, 1) * batches_per_epoch;
}

/// Steps that are left to do; 0: until the source ends.
std::uint64_t steps_to_do(const TrainingRequest& request, const Position& position,
                          std::uint64_t all) {
  if (all == 0) return 0;
  if (position.step >= all) {
    fail(request.resume, "training stands at step ", position.step, " of ", all,
         " already; ask for more --epochs or --steps");
  }
  return all - position.step;
}

/// Saves where training stands, and knows what was saved last.
class Saver {
 public:
  Saver(const TrainingRequest& request, const Session& session, const Position& start,
        std::uint64_t per_epoch)
      : request_(request), session_(session), position_(start), per_epoch_(per_epoch) {
    if (!request.resume.empty()) name_last(request.resume);
  }
  /// Without --checkpoint it saves nothing. The first rank writes for all.
  void save(std::uint64_t steps_done) {
    if (request_.checkpoint.empty() || position_.step == steps_done) return;
    position_.step = steps_done;
    position_.epoch = steps_done / per_epoch_;
    position_.batch = steps_done % per_epoch_;
    if (world().rank() == 0) save_checkpoint(request_.checkpoint, session_, position_);
    name_last(request_.checkpoint);
  }
  const std::string& last() const { return last_; }

 private:
  void name_last(const std::filesystem::path& file) {
    last_ = join(file.string(), ", which stands at step ", position_.step);
  }

  const TrainingRequest& request_;
  const Session& session_;
  Position position_;
  std::uint64_t per_epoch_;
  std::string last_;
};

/// What is needed only when training has ended is looked at before it begins.
std::unique_ptr<Dataset> open_validation(const TrainingRequest& request, Shape taken) {
  if (request.validation.empty()) return nullptr;
  std::unique_ptr<Dataset> dataset = open_dataset(request.validation);
  if (dataset->size() < world().ranks()) {
    fail(request.validation, "holds ", counted(dataset->size(), "image"), ", fewer than the ",
         world().ranks(), " ranks that would share them");
  }
  const Shape shape = recipe(request.recipe).evaluation().shape(dataset->info().shape);
  if (shape != taken) {
    fail(request.validation, "holds images of ", shape_text(shape), ", but ", request.network,
         " is trained on ", shape_text(taken));
  }
  return dataset;
}

Evaluation validate(const TrainingRequest& request, const Dataset& dataset, Session& session,
                    PixelMemory& memory, unsigned threads) {
  Loader loader(dataset, recipe(request.recipe).evaluation(),
                {.threads = threads,
                 .batch = session.plan().batch,
                 .pixels = {.type = request.pixels, .scales = input_scales(session.plan().graph)},
                 .order = {.shuffle = false},
                 .share = {.rank = world().rank(), .ranks = world().ranks()},
                 .engine = {.memory = &memory}});
  return evaluate(session, loader);
}

}  // namespace

TrainRecipe wanted_recipe(const TrainingRequest& request, const Network& definition) {
  TrainRecipe wanted =
      request.preset.empty() ? definition.recipe() : preset(request.preset).recipe();
  if (!request.optimizer.empty() && request.optimizer != wanted.optimizer) {
    wanted = with_optimizer(wanted, request.optimizer);
  }
  if (request.batch > 0) wanted.batch = request.batch;
  if (!request.schedule.empty()) wanted.schedule.policy = request.schedule;
  wanted.schedule.rate = request.rate.value_or(wanted.schedule.rate);
  wanted.momentum = request.momentum.value_or(wanted.momentum);
  wanted.decay = request.decay.value_or(wanted.decay);
  wanted.beta2 = request.beta2.value_or(wanted.beta2);
  wanted.epsilon = request.epsilon.value_or(wanted.epsilon);
  wanted.trust = request.trust.value_or(wanted.trust);
  wanted.warmup_epochs = request.warmup.value_or(wanted.warmup_epochs);
  Changes& changes = wanted.changes;
  if (!request.init.empty()) changes.init = request.init;
  changes.smoothing = request.smoothing.value_or(changes.smoothing);
  changes.zero_gamma = changes.zero_gamma || request.zero_gamma;
  if (!request.means.empty()) changes.means = request.means;
  if (!request.deviations.empty()) changes.deviations = request.deviations;
  return wanted;
}

void complete(TrainingRequest& request) {
  if (!request.preset.empty()) {
    const Preset& way = preset(request.preset);
    if (request.network.empty()) request.network = way.network();
    if (request.recipe.empty()) request.recipe = way.augmentation();
  }
  if (request.recipe.empty()) request.recipe = "none";
  constexpr std::string_view modes[] = {"train", "infer", "features"};
  if (std::ranges::find(modes, request.mode) == std::end(modes)) {
    throw Error(unknown_kind("mode", request.mode, modes));
  }
}

TrainingReport run_training(const TrainingRequest& request) {
  const Backend& device = usable_backend(request.device);
  const Network& definition = network(request.network);
  const TrainRecipe wanted = wanted_recipe(request, definition);
  const Optimizer& rule = optimizer(wanted.optimizer);
  const std::unique_ptr<Dataset> dataset = open_dataset(request.path);
  const Recipe& augment = recipe(request.recipe);
  const Shape taken = augment.shape(dataset->info().shape);
  const std::unique_ptr<Dataset> validation = open_validation(request, taken);
  if (!request.checkpoint.empty()) replaceable(request.checkpoint);
  Logs logs(world().rank() == 0 ? request.logs : LogPaths{});

  TrainingReport report;
  report.batch = wanted.batch;
  report.ranks = world().ranks();
  refuse_for_ranks(request, report.batch);
  Graph graph = definition.build(taken, count_classes(*dataset));
  apply(wanted.changes, graph);
  report.parameters = graph.parameter_count();
  report.macs = graph.macs();
  report.device_name = device.device_name();
  report.optimizer = rule.name();
  const LastBatch last = last_batch(dataset->size(), report.batch);
  const std::uint64_t per_epoch =
      (dataset->size() + (last == LastBatch::partial ? report.batch - 1 : 0)) / report.batch;
  const std::uint64_t all = all_steps(request, wanted, per_epoch);
  TrainOptions options;
  options.update = update_settings(wanted);
  options.schedule = schedule_of(wanted, per_epoch, all);
  options.schedule.at(0);  // an unknown policy is said before the work
  options.report_every = report_every;

  note_oversubscription(request.device,
                        request.resident || request.auto_threads ? 0 : request.threads,
                        request.compute_threads);
  const std::unique_ptr<Session> session =
      device.compile(make_plan(std::move(graph), report.batch / report.ranks),
                     {.precision = request.precision,
                      .threads = request.compute_threads,
                      .optimizer = &rule,
                      .seed = request.seed,
                      .pixels = request.pixels,
                      .communicator = report.ranks > 1 ? &world() : nullptr});
  initialise(*session, request.seed);

  Position position{.network = request.network,
                    .seed = request.seed,
                    .batch_images = report.batch,
                    .dataset_images = dataset->size()};
  if (!request.resume.empty()) position = resume_position(request, *session, position, per_epoch);
  options.steps = steps_to_do(request, position, all);
  options.first_step = position.step;
  options.seconds = request.seconds;
  if (!request.uploads) options.uploads = batches_on_device;

  const unsigned threads = request.auto_threads ? loader_cores(true) : request.threads;
  Progress progress("train " + request.network, "steps");
  options.progress = [&](const TrainOptions::Progress& now) {
    progress.update(now.step - position.step, options.steps);
    logs.progress(fields_of(of_all_ranks(now), options.schedule.at(now.step - 1)));
  };
  Saver saver(request, *session, position, per_epoch);
  options.last_good = [&] { return saver.last(); };
  const std::uint64_t validate_every = validation ? request.val_every * per_epoch : 0;
  const std::uint64_t save_every = request.checkpoint.empty() ? 0 : request.save_every;
  options.pause_every = std::gcd(validate_every, save_every);
  const auto validated = [&](std::uint64_t steps) {
    logs.validation_begins(steps);
    const Evaluation found =
        validate(request, *validation, *session, device.pixel_memory(), threads);
    report.validations.push_back({steps, steps / per_epoch, found});
    logs.validated(fields_of(found, steps, steps / per_epoch));
  };
  Sampler sampler({.device = request.device, .transfers = [&] { return session->transfers(); }});
  options.pause = [&](std::uint64_t steps) {
    sampler.enter(Section::paused);
    if (save_every != 0 && steps % save_every == 0) saver.save(steps);
    if (validate_every != 0 && steps % validate_every == 0) validated(steps);
    sampler.enter(Section::measured);
  };

  if (request.cold) make_cold(*dataset);
  Fields run = {{"run", "train"},
                {"dataset", request.path.string()},
                {"network", request.network},
                {"device", request.device},
                {"precision", request.precision},
                {"optimizer", report.optimizer},
                {"batch", report.batch},
                {"seed", request.seed},
                {"images", dataset->size()},
                {"learning_rate", wanted.schedule.rate},
                {"momentum", wanted.momentum},
                {"decay", wanted.decay},
                {"warmup_epochs", wanted.warmup_epochs}};
  if (validation) run.push_back({"validation_images", validation->size()});
  if (request.cold) run.push_back({"cold", true});
  logs.begin(std::move(run), per_epoch);
  Loader loader(*dataset, augment,
                {.threads = threads,
                 .batch = report.batch / report.ranks,
                 .epochs = 0,
                 .start = {.seed = position.seed,
                           .epoch = position.epoch,
                           .position = position.batch * report.batch},
                 .pixels = {.type = request.pixels, .scales = input_scales(session->plan().graph)},
                 .order = {.last = last},
                 .share = {.rank = world().rank(), .ranks = report.ranks},
                 .engine = {.tune = request.auto_threads && !request.resident,
                            .memory = &device.pixel_memory()}});
  std::unique_ptr<Replay> replay;
  if (request.resident) {
    replay = std::make_unique<Replay>(loader, resident_batches, 0, &device.pixel_memory());
  }
  BatchSource& batches = replay ? static_cast<BatchSource&>(*replay) : loader;
  TimeLimit limited(batches, request.seconds);

  Watched watched(
      request.seconds > 0 ? limited : batches, [&](std::uint64_t number) { sampler.asked(number); },
      [&](std::uint64_t number, const Batch& batch) {
        logs.step_begins(position.step + number, batch.count * report.ranks);
      });
  report.result = train(*session, watched, options);
  report.telemetry = sampler.measured();
  add_up_ranks(report.result);
  report.telemetry.planned_memory_mib = planned_mib(*session);
  report.steps_recorded = session->steps_recorded();
  const LoaderStats stats = loader.stats();
  report.threads = stats.threads;
  if (request.auto_threads && !request.resident) report.tuning = loader.tuning();
  if (!request.resident) report.loader = stats;

  const std::uint64_t done = position.step + report.result.steps;
  saver.save(done);
  if (validation && (report.validations.empty() || report.validations.back().step != done)) {
    validated(done);
  }
  logs.end();
  world().close();
  return report;
}

}  // namespace feedrate::tools
