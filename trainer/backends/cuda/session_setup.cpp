// The part of CudaSession that makes the layers of a plan and gives each its memory.

#include <algorithm>
#include <array>

#include "formats/base/error.h"
#include "trainer/backends/cuda/products/algorithm_cache.cuh"
#include "trainer/backends/cuda/session.cuh"
#include "trainer/graph/op.h"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

std::size_t tensor_bytes(const Plan& plan, const Node& node, const Extent& stored, ValueType type) {
  const auto values = checked_multiply(plan.batch, static_cast<std::uint64_t>(stored.elements()));
  const auto bytes = values ? checked_multiply(*values, bytes_of(type)) : std::nullopt;
  if (!bytes) throw Error(join(node.name, ": a batch of ", plan.batch, " is too large"));
  return *bytes;
}

}  // namespace

void CudaSession::make_layers(std::uint64_t seed) {
  const std::vector<Node>& nodes = plan_.graph.nodes;
  done_elsewhere_.resize(nodes.size());
  gradient_done_.resize(nodes.size());
  AlgorithmCache algorithms(AlgorithmCache::usual_file(),
                            join(device_name(), "; cuDNN ", cudnnGetVersion()));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    LayerSite site{.context = context_,
                   .graph = plan_.graph,
                   .number = i,
                   .batch = plan_.batch,
                   .seed = seed,
                   .communicator = communicator_,
                   .algorithms = &algorithms,
                   .engines = &engines_};
    for (const std::size_t input : nodes[i].inputs) site.inputs.push_back(nodes[input].extent);
    site.loss_scale = device_loss_scale();
    const std::size_t relu = relu_after(plan_, i);
    site.relu_follows = relu != no_node;
    site.learns = optimizer_ != nullptr && plan_.learns[i];
    site.input_learns =
        site.learns && !site.inputs.empty() && plan_.has_gradient(nodes[i].inputs[0]);
    site.stored = stored_[site.inputs.empty() ? i : nodes[i].inputs[0]];
    if (!site.inputs.empty()) site.input = site.inputs[0];
    for (const std::size_t number : nodes[i].parameters) {
      site.parameters.push_back(parameters_.parameter(number));
    }
    site.masks_relu = fused_.masked_norms[i];
    site.block_end = fused_.end_of(i);
    for (std::size_t k = 0; site.block_end != nullptr && k < 2; ++k) {
      const std::size_t norm = site.block_end->norms[k];
      if (norm == no_node) continue;
      for (const std::size_t number : nodes[norm].parameters) {
        site.norm_parameters[k].push_back(parameters_.parameter(number));
      }
    }
    if (site.block_end == nullptr) site.block_end = fused_.end_with_norm(i);
    gradient_done_[i] = fused_.gradient_done(plan_, i);
    layers_.push_back(make_layer(site));
    if (site.relu_follows && layers_[i]->does_relu()) done_elsewhere_[relu] = true;
  }
}

void CudaSession::place_values() {
  NodeBytes bytes;
  std::size_t scratch = 0, branch = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    bytes.outputs.push_back(
        tensor_bytes(plan_, plan_.graph.nodes[i], stored_[i].extent, context_.values()));
    bytes.saved.push_back(layers_[i]->saved_bytes());
    scratch = std::max(scratch, layers_[i]->scratch_bytes());
    std::size_t& of_weights = fused_.on_branch(i) ? branch : scratch;
    of_weights = std::max(of_weights, layers_[i]->weights_scratch_bytes());
  }
  const Places places = place_all(plan_, bytes, device_alignment, fused_);
  check_memory(places.bytes, scratch + branch);
  arena_ = DeviceMemory(places.bytes, "activations");
  scratch_ = DeviceMemory(scratch, "workspaces");
  branch_scratch_ = DeviceMemory(branch, "workspaces");
  bind(places);
}

// Fails before the first step and names the largest batch that would fit. Activations and inputs
// grow with the batch.
void CudaSession::check_memory(std::size_t activations, std::size_t scratch) const {
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) return;
  free -= std::min(free, inputs_.later_bytes());
  if (activations + scratch <= free) return;
  const std::size_t growing = activations + inputs_.bytes();
  const std::size_t room = free + inputs_.bytes() - std::min(scratch, free);
  const double images = static_cast<double>(room) / (static_cast<double>(growing) / plan_.batch);
  const auto max_batch = static_cast<std::uint64_t>(images);
  const auto mib = [](std::size_t bytes) { return (bytes >> 20) + 1; };
  throw Error(join("a batch of ", plan_.batch, " needs ",
                   mib(growing + scratch + parameters_.bytes()), " MiB (", mib(parameters_.bytes()),
                   " of parameters, ", mib(growing), " of inputs and activations, ", mib(scratch),
                   " of workspace), but the GPU has ",
                   mib(free + inputs_.bytes() + parameters_.bytes()), " MiB free; ",
                   max_batch == 0 ? std::string("not even one image would fit")
                                  : join("the largest batch that would fit is ", max_batch)));
}

void CudaSession::bind(const Places& places) {
  const std::vector<Node>& nodes = plan_.graph.nodes;
  std::byte* arena = arena_.data();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Buffers buffers{
        .output = arena + places.activations[i],
        .output_gradient = plan_.has_gradient(i) ? arena + places.gradients[i] : nullptr,
        .saved = arena + places.saved[i],
        .scratch = scratch_.data()};
    for (std::size_t k = 0; k < nodes[i].inputs.size(); ++k) {
      const std::size_t input = nodes[i].inputs[k];
      buffers.inputs.push_back(arena + places.activations[input]);
      buffers.input_gradients.push_back(
          plan_.has_gradient(input) ? arena + places.input_gradients[i][k] : nullptr);
    }
    std::vector<Sum> sums;
    for (const GradientSum& sum : places.sums[i]) {
      sums.push_back({arena + places.gradients[sum.input], arena + sum.part,
                      plan_.batch * stored_[sum.input].extent.elements()});
    }
    buffers_.push_back(std::move(buffers));
    sums_.push_back(std::move(sums));
  }
  for (const BlockEnd& end : fused_.block_ends) {
    Buffers& buffers = buffers_[end.sum];
    if (end.term_reader != no_node) buffers.second_term = arena + places.terms[end.sum];
    for (std::size_t k = 0; k < 2; ++k) {
      if (end.norms[k] != no_node) buffers.norms[k] = &buffers_[end.norms[k]];
    }
  }
  weights_buffers_ = buffers_;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (fused_.on_branch(i)) weights_buffers_[i].scratch = branch_scratch_.data();
  }
}

}  // namespace feedrate::trainer::cuda
