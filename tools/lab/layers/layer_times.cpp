#include "tools/lab/layers/layer_times.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>

#include "formats/base/random.h"
#include "formats/base/statistics.h"
#include "tools/lab/jobs/devices.h"
#include "tools/lab/measure/row.h"
#include "trainer/graph/op.h"
#include "trainer/networks/network.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

constexpr std::uint64_t min_steps = 3;
constexpr double small_rate = 1e-6;  // keeps training on noise from diverging

/// One batch of noise.
class NoiseBatch {
 public:
  NoiseBatch(const Graph& graph, std::uint32_t count, std::uint64_t seed)
      : pixels_(graph.input.bytes() * count), labels_(count) {
    for (std::size_t i = 0; i < pixels_.size(); ++i) {
      pixels_[i] = static_cast<std::uint8_t>(random_bits(seed, i) >> 56);
    }
    for (std::size_t i = 0; i < count; ++i) {
      labels_[i] = static_cast<std::int32_t>(below(random_bits(seed + 1, i), graph.classes));
    }
    batch_.count = count;
    batch_.shape = graph.input;
    batch_.pixels = pixels_;
    batch_.labels = labels_;
  }
  const Batch& batch() const { return batch_; }

 private:
  std::vector<std::uint8_t> pixels_;
  std::vector<std::int32_t> labels_;
  Batch batch_;
};

/// How long each step took, and each layer in it.
struct Steps {
  std::vector<double> seconds;
  std::vector<std::vector<double>> forward, backward;  // by node
};

Steps run_steps(Session& session, std::vector<NodeSeconds>& nodes, double seconds) {
  using Clock = std::chrono::steady_clock;
  const UpdateSettings settings{.rate = small_rate, .momentum = 0.9};
  session.train_step(settings, 0);  // not timed: it pays for the set-up
  session.wait();
  Steps steps;
  steps.forward.resize(nodes.size());
  steps.backward.resize(nodes.size());
  double spent = 0;
  for (std::uint64_t step = 1; step <= min_steps || spent < seconds; ++step) {
    nodes.assign(nodes.size(), {});
    const auto start = Clock::now();
    session.train_step(settings, step);
    session.wait();
    steps.seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    spent += steps.seconds.back();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      steps.forward[i].push_back(nodes[i].forward);
      steps.backward[i].push_back(nodes[i].backward);
    }
  }
  return steps;
}

/// Absent when the layer never ran by itself.
std::optional<double> time_of(const std::vector<std::vector<double>>& by_node, std::size_t node) {
  if (node >= by_node.size()) return std::nullopt;
  const double seconds = median(by_node[node]);
  return seconds > 0 ? std::optional(seconds) : std::nullopt;
}

}  // namespace

std::optional<double> LayerTime::flops_per_second() const {
  const double flops = work.forward.flops + work.backward.flops;
  if (flops <= 0 || seconds() <= 0) return std::nullopt;
  return flops / seconds();
}

std::optional<double> LayerTime::of_roofline(const std::optional<Roof>& roof) const {
  if (!roof || seconds() <= 0) return std::nullopt;
  double least = 0;
  if (forward) least += work.forward.least_seconds(*roof);
  if (backward) least += work.backward.least_seconds(*roof);
  return least / seconds();
}

std::optional<double> OperatorTime::flops_per_second() const {
  if (flops <= 0 || seconds() <= 0) return std::nullopt;
  return flops / seconds();
}

std::vector<OperatorTime> LayerTimes::by_operator() const {
  std::vector<OperatorTime> operators;
  for (const LayerTime& layer : layers) {
    auto row = std::ranges::find(operators, layer.op, &OperatorTime::op);
    if (row == operators.end()) row = operators.insert(row, {.op = layer.op});
    ++row->layers;
    row->forward += layer.forward.value_or(0);
    row->backward += layer.backward.value_or(0);
    row->flops += layer.work.forward.flops + layer.work.backward.flops;
  }
  std::ranges::stable_sort(operators, std::ranges::greater{}, &OperatorTime::seconds);
  return operators;
}

double LayerTimes::rest() const {
  return std::accumulate(
      layers.begin(), layers.end(), step_seconds,
      [](double left, const LayerTime& layer) { return left - layer.seconds(); });
}

LayerTimes time_layers(LayerTimesRequest request) {
  const Backend& device = usable_backend(request.device.name);
  const Network& definition = network(request.network);
  if (request.batch == 0) request.batch = definition.recipe().batch;

  LayerTimes times;
  Graph graph = definition.build(definition.published_input(), definition.published_classes());
  times.parameters = graph.parameter_count();
  times.macs = graph.macs();
  std::vector<NodeSeconds> nodes;
  const std::unique_ptr<Session> session = device.compile(
      make_plan(std::move(graph), request.batch), {.precision = request.device.precision,
                                                   .threads = request.device.compute_threads,
                                                   .optimizer = &optimizer("sgd"),
                                                   .seed = request.seed,
                                                   .node_seconds = &nodes});
  initialise(*session, request.seed);
  const Plan& plan = session->plan();
  const NoiseBatch noise(plan.graph, request.batch, request.seed);
  session->upload(noise.batch());
  const Steps steps = run_steps(*session, nodes, request.seconds);

  times.device_name = device.device_name(request.device.compute_threads);
  times.steps = steps.seconds.size();
  times.step_seconds = median(steps.seconds);
  times.roof = device.measure_roof(request.device.compute_threads, request.device.precision);
  const std::vector<NodeWork> work = count_work(plan, times.roof->value_bytes);
  for (std::size_t i = 0; i < plan.graph.nodes.size(); ++i) {
    const Node& node = plan.graph.nodes[i];
    times.layers.push_back({.name = node.name,
                            .op = std::string(node.op->name()),
                            .extent = node.extent,
                            .forward = time_of(steps.forward, i),
                            .backward = time_of(steps.backward, i),
                            .work = work[i]});
  }
  times.request = std::move(request);
  return times;
}

}  // namespace feedrate::tools
