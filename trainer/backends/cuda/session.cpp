#include "trainer/backends/cuda/session.cuh"

#include <algorithm>
#include <cstring>
#include <exception>

#include "formats/base/error.h"
#include "formats/base/stopwatch.h"
#include "trainer/backends/cuda/timing/node_timer.cuh"
#include "trainer/backends/rank_sums.h"

namespace feedrate::trainer::cuda {
using namespace formats;
using namespace loader;

namespace {

std::vector<float> widened(ValueType type, const std::vector<std::byte>& values) {
  return with_type(type, [&](auto value) {
    using T = decltype(value);
    std::vector<float> wide(values.size() / sizeof(T));
    for (std::size_t i = 0; i < wide.size(); ++i) {
      std::memcpy(static_cast<void*>(&value), &values[i * sizeof(T)], sizeof(T));
      wide[i] = static_cast<float>(value);
    }
    return wide;
  });
}

constexpr const char* not_wanted = "FEEDRATE_UNFUSED or the timing of nodes turns it off";

Fusions wanted_fusions(bool timed) {
  Fusions wanted = fusions_of_environment();
  // Each node is to take time of its own.
  if (timed) wanted.weight_branch = wanted.early_kernels = false;
  return wanted;
}

}  // namespace

CudaSession::CudaSession(Plan plan, const SessionOptions& options)
    : plan_(std::move(plan)),
      fused_(fuse(plan_, wanted_fusions(options.node_seconds != nullptr))),
      optimizer_(options.optimizer),
      communicator_(options.communicator),
      context_(options.precision),
      update_(optimizer_ == nullptr ? nullptr : update_of(*optimizer_)),
      stored_(stored_extents(plan_.graph, context_.values())),
      parameters_(plan_.graph, parameter_layouts(plan_.graph, stored_), optimizer_,
                  context_.values()),
      pixels_(options.pixels),
      inputs_(plan_.graph.input, plan_.batch, pixels_),
      metrics_(sizeof(DeviceMetrics), "metrics"),
      discarded_metrics_(sizeof(DeviceMetrics), "metrics"),
      settings_(sizeof(UpdateSettings), "settings"),
      diverged_at_(1) {
  diverged_at_.values()[0] = never_diverged;
  context_.start_kernels_early(fused_.early_kernels);
  if (optimizer_ != nullptr && context_.values() == ValueType::fp16) {
    loss_scale_ = DeviceMemory(sizeof(DeviceLossScale), "the loss scale");
    write_loss_scale({});
  }
  // Ranks see different images, which need different dropout masks.
  make_layers(communicator_ == nullptr ? options.seed : options.seed + communicator_->rank());
  place_values();
  if (communicator_ != nullptr) {
    ranks_ = std::make_unique<DeviceRanks>(*communicator_, context_, plan_, parameters_);
  }
  if (options.node_seconds != nullptr) {
    timer_ = std::make_unique<NodeTimer>(layers_.size(), *options.node_seconds);
  }
}

CudaSession::~CudaSession() {
  // After a failure, a rank that ended may have left sums on the device that never come: they are
  // given up, or the wait for the device would keep the error from being told.
  if (ranks_ != nullptr && std::uncaught_exceptions() > 0) ranks_->give_up();
  // Memory must outlive the work on it. A device that failed has already reported it.
  cudaStreamSynchronize(context_.uploads());
  cudaStreamSynchronize(context_.compute());
}

void CudaSession::expect_all_ranks() const {
  if (communicator_ != nullptr) communicator_->expect_all_there();
}

void CudaSession::wait_for_device() const {
  context_.wait();
  expect_all_ranks();
}

void CudaSession::wait_for_room() {
  const std::optional<std::uint64_t> done = inputs_.wait_for_room();
  expect_all_ranks();
  find_divergence_until(done);
}

void CudaSession::upload(const Batch& batch) {
  check_batch(plan_, batch, pixels_);
  // The copy would wait for this anyway, but would overwrite the batch of a step that diverged.
  wait_for_room();
  inputs_.upload(context_, batch);
}

std::uint32_t CudaSession::reuse_batch() {
  wait_for_room();  // as in upload(): the host runs no further ahead
  inputs_.reuse();
  return inputs_.count();
}

Step CudaSession::make_step(bool training) const {
  if (inputs_.count() == 0) throw Error("a step needs a batch, but none was uploaded");
  return step_on(inputs_.current(), {inputs_.count(), inputs_.count()}, training);
}

Step CudaSession::step_on(std::size_t side, const Count& count, bool training) const {
  return {.pixels = inputs_.pixels(side),
          .labels = inputs_.labels(side),
          .count = count.own,
          .all_images = count.all,
          .training = training,
          .unfused = false,
          .metrics = metrics_.as<DeviceMetrics>(),
          .settings = settings()};
}

void CudaSession::forward(const Step& step) {
  const bool timed = timer_ != nullptr && step.training;
  if (timed) timer_->begin_forward(context_);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const bool wanted = step.training || !plan_.training_only[i];
    if (!wanted || done_elsewhere_[i]) continue;
    layers_[i]->forward(buffers_[i], step);
    if (timed) timer_->end_forward(context_, i);
  }
}

void CudaSession::backward(const Step& step) {
  if (timer_ != nullptr) timer_->begin_backward(context_);
  for (std::size_t i = layers_.size(); i-- > 0;) {
    if (!plan_.learns[i]) continue;
    if (!gradient_done_[i]) backward_of(i, step);
    for (const Sum& sum : sums_[i]) add_values(context_, sum.part, sum.size, sum.to);
    // Between two marks with nothing between them, a device's clock advances all the same.
    const bool worked = !gradient_done_[i] || !sums_[i].empty();
    if (timer_ != nullptr && worked) timer_->end_backward(context_, i);
    if (ranks_ == nullptr || !ranks_->ends_bucket(i)) continue;
    branch_.join(context_);
    ranks_->share_gradients(i);
  }
  branch_.join(context_);
}

void CudaSession::backward_of(std::size_t node, const Step& step) {
  Layer& layer = *layers_[node];
  const auto find_weights = [&] { layer.backward_weights(weights_buffers_[node], step); };
  if (fused_.on_branch(node)) {
    branch_.run(context_, find_weights);
  } else {
    find_weights();
  }
  layer.backward(buffers_[node], step);
}

void CudaSession::run(const Step& step) {
  branch_.restart();
  forward(step);
  if (!step.training) return;
  if (ranks_ != nullptr) ranks_->share_loss(step.metrics);
  backward(step);
  if (ranks_ != nullptr) ranks_->finish();
  update_(context_, parameters_, step.settings,
          {ranks_ == nullptr ? step.metrics : ranks_->losses(), diverged_at_.values().data(),
           device_loss_scale()},
          ranks_ == nullptr ? FilterGradients::narrow : FilterGradients::widened);
}

// A batch that is not whole comes once an epoch. Its kernels are launched one by one, because its
// count is one of their arguments.
void CudaSession::run_or_replay(const Step& step) {
  RecordedSteps& recorded = step.training ? training_ : evaluation_;
  const std::uint32_t ranks = communicator_ == nullptr ? 1 : communicator_->ranks();
  const Count whole_batch{plan_.batch, step.training ? plan_.batch * ranks : plan_.batch};
  const bool whole = step.count == whole_batch.own && step.all_images == whole_batch.all;
  if (whole && recorded.replay(context_, inputs_.current())) return;
  run(step);
  // Record only after one step has run: the libraries initialise themselves in it, which cannot be
  // recorded.
  if (!whole || recorded.tried()) return;
  const auto record = [&] {
    recorded.record(context_,
                    [&](std::size_t side) { run(step_on(side, whole_batch, step.training)); });
  };
  record();
  if (recorded.recorded() == true || !context_.starts_kernels_early()) return;
  early_problem_ = recorded.problem();
  context_.start_kernels_early(false);  // a driver may not be able to record it
  record();
}

void CudaSession::train_step(const UpdateSettings& settings, std::uint64_t number) {
  if (optimizer_ == nullptr) throw Error("a training step needs an optimizer");
  Step step = make_step(true);
  step.all_images = static_cast<std::uint32_t>(sum_over_ranks(communicator_, step.count));
  UpdateSettings numbered = settings;
  numbered.step = number;
  set_settings(context_, numbered, this->settings());
  run_or_replay(step);
  if (timer_ != nullptr) timer_->add_times(context_);
  inputs_.release_after_work(context_, number);
}

void CudaSession::evaluate_step() {
  run_or_replay(make_step(false));
  inputs_.release_after_work(context_, std::nullopt);
}

void CudaSession::download(void* to, const void* from, std::size_t bytes) {
  wait_for_device();
  const Stopwatch stopwatch;
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  ++down_.count;
  down_.bytes += bytes;
  down_.seconds += stopwatch.seconds();
}

std::vector<float> CudaSession::output(std::size_t node) {
  const StoredExtent& stored = stored_[node];
  std::vector<std::byte> bytes(inputs_.count() *
                               static_cast<std::size_t>(stored.extent.elements()) *
                               bytes_of(context_.values()));
  download(bytes.data(), buffers_[node].output, bytes.size());
  std::vector<float> values = widened(context_.values(), bytes);
  return from_stored(layout_of(inputs_.count(), plan_.graph.nodes[node].extent, stored), values);
}

void CudaSession::forward_to(std::size_t node, std::span<float> values) {
  Step step = make_step(false);
  step.unfused = true;
  for (std::size_t i = 0; i <= node; ++i) {
    if (!plan_.training_only[i]) layers_[i]->forward(buffers_[i], step);
  }
  const std::vector<float> result = output(node);
  std::copy(result.begin(), result.end(), values.begin());
  inputs_.release_after_work(context_, std::nullopt);
}

// Every update since the divergence was skipped, so the parameters are still those of that step,
// and its batch is one of the last two. Steps after `last` may be known on some ranks and not yet
// on others, so they are left to a later call: all ranks report a divergence at the same call.
void CudaSession::find_divergence_until(std::optional<std::uint64_t> last) {
  const std::uint64_t number = diverged_at_.values()[0];
  if (divergence_ || number == never_diverged || !last || number > *last) return;
  if (!inputs_.select(number)) return;
  Step step = make_step(true);
  step.unfused = true;
  step.metrics = discarded_metrics_.as<DeviceMetrics>();
  set_settings(context_, {.step = number}, settings());
  std::size_t i = 0;
  for (; i < layers_.size(); ++i) {
    layers_[i]->forward(buffers_[i], step);
    if (!all_finite(output(i))) break;
  }
  divergence_ = divergence_at(*this, number, i, ranks_ == nullptr);
}

void CudaSession::wait() {
  wait_for_device();
  inputs_.expect_decoded();
  find_divergence_until(never_diverged);
}

Metrics CudaSession::take_metrics() {
  wait();
  DeviceMetrics sums{};
  download(&sums, metrics_.data(), sizeof(sums));
  check(cudaMemsetAsync(metrics_.data(), 0, sizeof(sums), context_.compute()), "cudaMemsetAsync");
  return sum_over_ranks(communicator_, {.images = sums.images,
                                        .correct = sums.correct,
                                        .correct5 = sums.correct5,
                                        .loss_sum = sums.loss_sum});
}

std::vector<float> CudaSession::read(const float* all, std::size_t number) const {
  std::vector<float> values = parameters_.read(context_, all, number);
  expect_all_ranks();
  return values;
}

std::vector<float> CudaSession::parameter(std::size_t number) const {
  return read(parameters_.values(), number);
}

void CudaSession::set_parameter(std::size_t number, std::span<const float> values) {
  parameters_.write(context_, parameters_.values(), number, values);
}

float* CudaSession::state_buffer(std::size_t slot) const {
  if (slot >= parameters_.states()) throw Error(join("the optimizer has no state ", slot));
  return parameters_.state(slot);
}

std::vector<float> CudaSession::state(std::size_t number, std::size_t slot) const {
  return read(state_buffer(slot), number);
}

void CudaSession::set_state(std::size_t number, std::size_t slot, std::span<const float> values) {
  parameters_.write(context_, state_buffer(slot), number, values);
}

std::vector<float> CudaSession::gradient(std::size_t number) const {
  // The sums of ranks and the unscaled gradients are wide already.
  if (ranks_ == nullptr && device_loss_scale() == nullptr) parameters_.widen(context_);
  return read(parameters_.gradients(), number);
}

std::optional<LossScale> CudaSession::loss_scale() const {
  if (device_loss_scale() == nullptr) return std::nullopt;
  DeviceLossScale now;
  wait_for_device();
  check(cudaMemcpy(&now, device_loss_scale(), sizeof(now), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return LossScale{static_cast<std::uint64_t>(now.scale), now.good_steps};
}

void CudaSession::set_loss_scale(const LossScale& scale) {
  if (device_loss_scale() == nullptr) return;
  write_loss_scale({static_cast<float>(scale.scale), static_cast<std::uint32_t>(scale.good_steps)});
}

void CudaSession::write_loss_scale(const DeviceLossScale& scale) {
  context_.wait();
  check(cudaMemcpy(loss_scale_.data(), &scale, sizeof(scale), cudaMemcpyHostToDevice),
        "cudaMemcpy");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

std::optional<Overlap> CudaSession::early_kernels() const {
  if (!main_steps().tried()) return std::nullopt;
  if (context_.starts_kernels_early()) return Overlap{.on = true};
  if (!fused_.early_kernels) return Overlap{.off_because = not_wanted};
  if (early_problem_.empty()) return Overlap{.off_because = "it needs compute capability 9"};
  return Overlap{.off_because = join("a step with it cannot be recorded: ", early_problem_)};
}

std::optional<Overlap> CudaSession::weight_branch() const {
  if (!main_steps().tried()) return std::nullopt;
  if (optimizer_ == nullptr) return Overlap{.off_because = "nothing is learned"};
  if (std::ranges::find(fused_.weight_branch, true) != fused_.weight_branch.end()) {
    return Overlap{.on = true};
  }
  if (!wanted_fusions(timer_ != nullptr).weight_branch) return Overlap{.off_because = not_wanted};
  return Overlap{.off_because = "no product is small enough to leave room for another"};
}

std::size_t CudaSession::planned_bytes() const {
  return arena_.bytes() + scratch_.bytes() + branch_scratch_.bytes() + parameters_.bytes() +
         inputs_.bytes();
}

}  // namespace feedrate::trainer::cuda
