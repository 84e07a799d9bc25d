#include "trainer/backends/cuda/session.cuh"

#include <algorithm>

#include "formats/error.h"
#include "trainer/op.h"

namespace feedrate::cuda {
namespace {

/// The arena's blocks, by what they hold: n activations, n gradients, n of what ops save.
struct Blocks {
  std::vector<Lifetime> lifetimes;
  std::vector<std::size_t> sizes;

  void add(const Lifetime& lifetime, std::size_t bytes) {
    lifetimes.push_back(lifetime);
    sizes.push_back(bytes);
  }
};

std::size_t tensor_bytes(const Plan& plan, const Node& node) {
  const auto values =
      checked_multiply(plan.batch, static_cast<std::uint64_t>(node.extent.elements()));
  const auto bytes = values ? checked_multiply(*values, sizeof(float)) : std::nullopt;
  if (!bytes) throw Error(join(node.name, ": a batch of ", plan.batch, " is too large"));
  return *bytes;
}

// A gradient read by two ops would have to be a sum; no op here joins branches again, so a graph
// that branches never trains.
void refuse_branches(const Graph& graph) {
  std::vector<int> readers(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    if (node.inputs.size() > 1) {
      throw Error(join("the cuda backend cannot join branches yet, as ", node.name, " does"));
    }
    for (const std::size_t input : node.inputs) ++readers[input];
  }
  for (std::size_t i = 0; i < readers.size(); ++i) {
    if (readers[i] > 1) {
      throw Error(join("the cuda backend cannot branch yet, as after ", graph.nodes[i].name));
    }
  }
}

}  // namespace

CudaSession::CudaSession(Plan plan, const SessionOptions& options)
    : plan_(std::move(plan)),
      optimizer_(options.optimizer),
      context_(options.precision == "tf32"),
      parameters_(plan_.graph.parameters, optimizer_ == nullptr ? 0 : optimizer_->states()),
      inputs_(plan_.graph.input, plan_.batch),
      metrics_(sizeof(DeviceMetrics), "metrics") {
  refuse_branches(plan_.graph);
  make_ops(options.seed);
  place_tensors();
}

CudaSession::~CudaSession() {
  // Memory must outlive the work on it; a device that failed has told so before.
  cudaStreamSynchronize(context_.uploads());
  cudaStreamSynchronize(context_.compute());
}

void CudaSession::make_ops(std::uint64_t seed) {
  const std::vector<Node>& nodes = plan_.graph.nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    OpSite site{.context = context_,
                .node = nodes[i],
                .number = i,
                .batch = plan_.batch,
                .in = nodes[i].inputs.empty() ? Extent{} : nodes[nodes[i].inputs[0]].extent,
                .parameters = {},
                .seed = seed};
    for (const std::size_t number : nodes[i].parameters) {
      site.parameters.push_back(parameters_.parameter(number));
    }
    ops_.push_back(make_op(site));
  }
}

void CudaSession::place_tensors() {
  const std::vector<Node>& nodes = plan_.graph.nodes;
  const std::size_t n = nodes.size();
  Blocks blocks;
  for (std::size_t i = 0; i < n; ++i) {
    const bool own = plan_.activation_homes[i] == i;
    blocks.add(plan_.activations[i], own ? tensor_bytes(plan_, nodes[i]) : 0);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const bool own = plan_.gradient_homes[i] == i && i != 0 && i != n - 1;
    blocks.add(plan_.gradients[i], own ? tensor_bytes(plan_, nodes[i]) : 0);
  }
  for (std::size_t i = 0; i < n; ++i) blocks.add({i, 2 * n - 1 - i}, ops_[i]->saved_bytes());

  const Arena arena = plan_arena(blocks.lifetimes, blocks.sizes, device_alignment);
  arena_ = DeviceMemory(arena.bytes, "activations");
  std::size_t workspace = 0;
  for (const auto& op : ops_) workspace = std::max(workspace, op->workspace_bytes());
  workspace_ = DeviceMemory(workspace, "workspaces");

  const auto at = [&](std::size_t block) { return arena_.data() + arena.offsets[block]; };
  const auto activation = [&](std::size_t i) {
    return reinterpret_cast<float*>(at(plan_.activation_homes[i]));
  };
  const auto gradient = [&](std::size_t i) -> float* {
    if (i == 0 || i == n - 1) return nullptr;  // of pixels, and of the loss by itself
    return reinterpret_cast<float*>(at(n + plan_.gradient_homes[i]));
  };
  for (std::size_t i = 0; i < n; ++i) {
    Place place{.y = activation(i),
                .dy = gradient(i),
                .saved = at(2 * n + i),
                .workspace = workspace_.data()};
    if (!nodes[i].inputs.empty()) {
      place.x = activation(nodes[i].inputs[0]);
      place.dx = gradient(nodes[i].inputs[0]);
    }
    places_.push_back(place);
  }
}

void CudaSession::upload(const Batch& batch) {
  check_batch(plan_, batch);
  inputs_.upload(context_, batch);
}

Step CudaSession::make_step(std::uint64_t number, bool training) const {
  if (inputs_.count() == 0) throw Error("a step needs a batch: nothing was uploaded yet");
  return {.pixels = inputs_.pixels(),
          .labels = inputs_.labels(),
          .count = inputs_.count(),
          .number = number,
          .training = training,
          .metrics = reinterpret_cast<DeviceMetrics*>(metrics_.data())};
}

void CudaSession::forward(const Step& step) {
  for (std::size_t i = 0; i < ops_.size(); ++i) ops_[i]->forward(places_[i], step);
}

void CudaSession::train_step(const UpdateSettings& settings, std::uint64_t number) {
  if (optimizer_ == nullptr) throw Error("a training step needs an optimizer");
  const Step step = make_step(number, true);
  forward(step);
  for (std::size_t i = ops_.size(); i-- > 0;) ops_[i]->backward(places_[i], step);
  inputs_.release_after_work(context_);
  sgd_cuda(context_, parameters_, settings);
}

void CudaSession::evaluate_step() {
  forward(make_step(0, false));
  inputs_.release_after_work(context_);
}

Metrics CudaSession::take_metrics() {
  context_.wait();
  DeviceMetrics sums{};
  check(cudaMemcpy(&sums, metrics_.data(), sizeof(sums), cudaMemcpyDeviceToHost), "cudaMemcpy");
  check(cudaMemsetAsync(metrics_.data(), 0, sizeof(sums), context_.compute()), "cudaMemsetAsync");
  return {.images = sums.images, .correct = sums.correct, .loss_sum = sums.loss_sum};
}

std::vector<float> CudaSession::parameter(std::size_t number) const {
  return parameters_.read(context_, parameters_.values(), number);
}

void CudaSession::set_parameter(std::size_t number, std::span<const float> values) {
  parameters_.write(context_, parameters_.values(), number, values);
}

float* CudaSession::state_buffer(std::size_t slot) const {
  if (slot >= parameters_.states()) throw Error(join("the optimizer has no state ", slot));
  return parameters_.state(slot);
}

std::vector<float> CudaSession::state(std::size_t number, std::size_t slot) const {
  return parameters_.read(context_, state_buffer(slot), number);
}

void CudaSession::set_state(std::size_t number, std::size_t slot, std::span<const float> values) {
  parameters_.write(context_, state_buffer(slot), number, values);
}

std::vector<float> CudaSession::gradient(std::size_t number) const {
  return parameters_.read(context_, parameters_.gradients(), number);
}

std::size_t CudaSession::planned_bytes() const {
  return arena_.bytes() + workspace_.bytes() + parameters_.bytes() + inputs_.bytes();
}

}  // namespace feedrate::cuda
