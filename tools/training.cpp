#include "tools/training.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "formats/cores.h"
#include "formats/dataset.h"
#include "formats/replace.h"
#include "loader/loader.h"
#include "tools/console.h"
#include "tools/nvml.h"
#include "tools/text.h"
#include "trainer/backends/cuda.h"
#include "trainer/checkpoint.h"
#include "trainer/network.h"

namespace feedrate {
namespace {

using Clock = std::chrono::steady_clock;

// Enough distinct batches that the trainer's caches do not hold them all, few enough to fill fast.
constexpr unsigned resident_batches = 16;
constexpr std::uint64_t report_every = 100;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Ends another source when the time is up, counted from the second batch: the first pays for what
/// every later one finds ready.
class TimeLimit : public BatchSource {
 public:
  TimeLimit(BatchSource& source, double seconds) : source_(source), seconds_(seconds) {}
  const Batch* next() override {
    if (taken_ == 1) start_ = Clock::now();
    if (taken_ > 1 && since(start_) >= seconds_) return nullptr;
    ++taken_;
    return source_.next();
  }
  Shape shape() const override { return source_.shape(); }
  std::uint32_t batch_size() const override { return source_.batch_size(); }

 private:
  BatchSource& source_;
  double seconds_;
  std::uint64_t taken_ = 0;
  Clock::time_point start_;
};

/// What a GPU spends between construction and stop(). Nothing is known of other devices.
class GpuMeter {
 public:
  explicit GpuMeter(const std::string& device) {
    if (device == "cuda") nvml_ = std::make_unique<Nvml>(cuda_pci_bus_id());
    if (nvml_) energy_ = nvml_->energy_j();
  }
  void stop(Telemetry& telemetry) const {
    if (!nvml_) return;
    telemetry.gpu_memory_mib = nvml_->own_memory_mib();
    if (!telemetry.gpu_memory_mib) telemetry.gpu_memory_mib = nvml_->memory_used_mib();
    telemetry.gpu_power_w = nvml_->power_w();
    const std::optional<double> energy = nvml_->energy_j();
    if (!energy || !energy_) return;
    telemetry.gpu_energy_j = *energy - *energy_;
    // The power reading is the mean of the last second; over a longer run energy knows better.
    const double seconds = since(start_);
    if (seconds >= 2) telemetry.gpu_power_w = *telemetry.gpu_energy_j / seconds;
  }

 private:
  std::unique_ptr<Nvml> nvml_;
  Clock::time_point start_ = Clock::now();
  std::optional<double> energy_;
};

const Backend& usable_backend(const std::string& name) {
  const Backend& device = backend(name);
  const std::string why_not = device.unavailable();
  if (!why_not.empty()) throw Error(join("device ", name, ": ", why_not));
  return device;
}

/// Beyond the cores, more threads only take turns: allowed, but said.
void note_oversubscription(const TrainingRequest& request) {
  const unsigned cores = usable_cores();
  const unsigned loading =
      request.resident || request.auto_threads ? 0 : request.threads;  // a resident loader rests
  const unsigned compute = request.device == "cpu" ? request.compute_threads : 0;
  if (std::max(loading, compute) <= cores) return;
  note(fmt::format("{} on {}", counted(std::max(loading, compute), "thread"),
                   counted(cores, "core")));
}

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

/// Steps that are left to do; 0: until the source ends.
std::uint64_t steps_to_do(const TrainingRequest& request, const Position& position,
                          std::uint64_t batches_per_epoch) {
  if (request.seconds > 0) return 0;
  const std::uint64_t all = request.steps > 0 ? request.steps : request.epochs * batches_per_epoch;
  if (position.step >= all) {
    fail(request.resume, "training stands at step ", position.step, " of ", all,
         " already; ask for more --epochs or --steps");
  }
  return all - position.step;
}

TrainOptions train_options(const TrainingRequest& request, const TrainRecipe& published,
                           const Optimizer& rule) {
  TrainOptions options;
  UpdateSettings& update = options.update = rule.defaults();
  if (rule.name() == published.optimizer) {
    update.momentum = published.momentum;
    update.decay = published.decay;
    options.schedule = published.schedule;
  } else {
    options.schedule.rate = update.rate;
  }
  update.momentum = request.momentum.value_or(update.momentum);
  update.decay = request.decay.value_or(update.decay);
  update.beta2 = request.beta2.value_or(update.beta2);
  update.epsilon = request.epsilon.value_or(update.epsilon);
  update.trust = request.trust.value_or(update.trust);
  options.schedule.rate = request.rate.value_or(options.schedule.rate);
  options.report_every = report_every;
  return options;
}

/// What is needed only when training has ended is looked at before it begins.
std::unique_ptr<Dataset> open_validation(const TrainingRequest& request, Shape taken) {
  if (request.validation.empty()) return nullptr;
  std::unique_ptr<Dataset> dataset = open_dataset(request.validation);
  const Shape shape = recipe(request.recipe).evaluation().shape(dataset->info().shape);
  if (shape != taken) {
    fail(request.validation, "holds images of ", shape_text(shape), ", but ", request.network,
         " is trained on ", shape_text(taken));
  }
  return dataset;
}

Evaluation validate(const TrainingRequest& request, const Dataset& dataset, Session& session,
                    PixelMemory& memory, unsigned threads) {
  Loader loader(
      dataset, recipe(request.recipe).evaluation(),
      {.threads = threads, .batch = session.plan().batch, .shuffle = false, .memory = &memory});
  return evaluate(session, loader);
}

}  // namespace

TrainingReport run_training(const TrainingRequest& request) {
  const Backend& device = usable_backend(request.device);
  const Network& definition = network(request.network);
  const TrainRecipe published = definition.recipe();
  const Optimizer& rule =
      optimizer(request.optimizer.empty() ? published.optimizer : request.optimizer);
  const std::unique_ptr<Dataset> dataset = open_dataset(request.path);
  const Recipe& augment = recipe(request.recipe);
  const Shape taken = augment.shape(dataset->info().shape);
  const std::unique_ptr<Dataset> validation = open_validation(request, taken);
  if (!request.checkpoint.empty()) replaceable(request.checkpoint);

  TrainingReport report;
  report.batch = request.batch > 0 ? request.batch : published.batch;
  Graph graph = definition.build(taken, count_classes(*dataset));
  report.parameters = graph.parameter_count();
  report.macs = graph.macs();
  report.device_name = device.device_name();
  report.optimizer = rule.name();
  note_oversubscription(request);
  const std::unique_ptr<Session> session =
      device.compile(make_plan(std::move(graph), report.batch), {.precision = request.precision,
                                                                 .threads = request.compute_threads,
                                                                 .optimizer = &rule,
                                                                 .seed = request.seed});
  initialise(*session, request.seed);

  const std::uint64_t per_epoch = (dataset->size() + report.batch - 1) / report.batch;
  Position position{.network = request.network,
                    .seed = request.seed,
                    .batch_images = report.batch,
                    .dataset_images = dataset->size()};
  if (!request.resume.empty()) position = resume_position(request, *session, position, per_epoch);

  TrainOptions options = train_options(request, published, rule);
  options.steps = steps_to_do(request, position, per_epoch);
  options.first_step = position.step;
  Progress progress("train " + request.network, "steps");
  options.progress = [&](const TrainOptions::Progress& now) {
    progress.update(now.step - position.step, options.steps);
  };

  const unsigned threads = request.auto_threads ? loader_cores(true) : request.threads;
  Loader loader(*dataset, augment,
                {.threads = threads,
                 .tune = request.auto_threads && !request.resident,
                 .batch = report.batch,
                 .seed = position.seed,
                 .epochs = 0,
                 .first_epoch = position.epoch,
                 .first_position = position.batch * report.batch,
                 .memory = &device.pixel_memory()});
  std::unique_ptr<Replay> replay;
  if (request.resident) {
    replay = std::make_unique<Replay>(loader, resident_batches, 0, &device.pixel_memory());
  }
  BatchSource& batches = replay ? static_cast<BatchSource&>(*replay) : loader;
  TimeLimit limited(batches, request.seconds);

  const GpuMeter gpu(request.device);
  report.result = train(*session, request.seconds > 0 ? limited : batches, options);
  gpu.stop(report.telemetry);
  report.threads = loader.stats().threads;
  if (request.auto_threads && !request.resident) report.tuning = loader.tuning();
  if (!request.resident) report.workers_seen = loader.stats().workers_seen;

  position.step += report.result.steps;
  position.epoch = position.step / per_epoch;
  position.batch = position.step % per_epoch;
  if (!request.checkpoint.empty()) save_checkpoint(request.checkpoint, *session, position);
  if (validation) {
    report.validation =
        validate(request, *validation, *session, device.pixel_memory(), report.threads);
  }
  return report;
}

}  // namespace feedrate
