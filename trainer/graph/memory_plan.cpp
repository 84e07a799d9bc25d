#include "trainer/graph/memory_plan.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "formats/base/bytes.h"
#include "formats/base/error.h"
#include "formats/base/random.h"
#include "trainer/graph/op.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

// By node: the only node that reads its output; no_node where none or several do.
std::vector<std::size_t> only_readers(const Graph& graph) {
  std::vector<std::size_t> reader(graph.nodes.size(), no_node);
  std::vector<int> count(graph.nodes.size());
  for (std::size_t j = 0; j < graph.nodes.size(); ++j) {
    for (const std::size_t i : graph.nodes[j].inputs) {
      reader[i] = ++count[i] == 1 ? j : no_node;
    }
  }
  return reader;
}

void plan_lifetimes(Plan& plan) {
  const std::vector<Node>& nodes = plan.graph.nodes;
  const std::size_t end = 2 * nodes.size() - 1;  // backward of node i is moment end − i
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    const OpTraits& traits = nodes[j].op->traits();
    // The node before may do an in-place node's work; its backward then reads this output.
    const std::size_t reader = traits.in_place ? nodes[j].inputs[0] : j;
    plan.activations.push_back({j, traits.backward_reads_output ? end - reader : j});
    plan.gradients.push_back({end - j, end - j});
    for (const std::size_t i : nodes[j].inputs) {
      Lifetime& activation = plan.activations[i];
      activation.last = std::max(activation.last, traits.backward_reads_input ? end - j : j);
      plan.gradients[i].first = std::min(plan.gradients[i].first, end - j);
    }
  }
}

// A node that works in place writes its output into its input's buffer, and its input's gradient
// into that of its output:
//
//   activations:  conv ─► norm ─► relu      relu's output lies in norm's buffer
//   gradients:    conv ◄─ norm ◄─ relu      norm's gradient lies in relu's buffer
//
// An output may do so if no other node reads the input later, a gradient if the node alone reads
// the input. The network's input is never overwritten.
void share_buffers(Plan& plan) {
  const std::vector<Node>& nodes = plan.graph.nodes;
  const std::vector<std::size_t> reader = only_readers(plan.graph);
  plan.activation_buffers.resize(nodes.size());
  plan.gradient_buffers.resize(nodes.size());
  std::iota(plan.activation_buffers.begin(), plan.activation_buffers.end(), std::size_t{0});
  std::iota(plan.gradient_buffers.begin(), plan.gradient_buffers.end(), std::size_t{0});
  for (std::size_t j = 1; j < nodes.size(); ++j) {
    const std::size_t i = nodes[j].inputs.empty() ? no_node : nodes[j].inputs[0];
    const bool alone = i != no_node && i != 0 && reader[i] == j && nodes[j].op->traits().in_place;
    if (!alone || plan.activations[i].last > j) continue;
    const std::size_t buffer = plan.activation_buffers[i];
    plan.activation_buffers[j] = buffer;
    plan.activations[buffer].last =
        std::max(plan.activations[buffer].last, plan.activations[j].last);
  }
  for (std::size_t j = nodes.size(); j-- > 1;) {
    // A loss has no output gradient whose memory its input's gradient could use.
    const OpTraits& traits = nodes[j].op->traits();
    if (nodes[j].inputs.empty() || !traits.in_place || traits.is_loss) continue;
    const std::size_t i = nodes[j].inputs[0];
    if (i == 0 || reader[i] != j) continue;
    const std::size_t buffer = plan.gradient_buffers[j];
    plan.gradient_buffers[i] = buffer;
    plan.gradients[buffer].last = std::max(plan.gradients[buffer].last, plan.gradients[i].last);
  }
}

void plan_learning(Plan& plan) {
  const std::vector<Node>& nodes = plan.graph.nodes;
  for (const Node& node : nodes) {
    bool learns = !node.parameters.empty();
    for (const std::size_t i : node.inputs) learns = learns || plan.learns[i];
    plan.learns.push_back(learns);
  }
  plan.training_only = plan.graph.training_only();
  plan.adds.resize(nodes.size());
  std::vector<bool> written(nodes.size());
  for (std::size_t j = nodes.size(); j-- > 0;) {
    for (const std::size_t i : nodes[j].inputs) {
      plan.adds[j].push_back(written[i]);
      written[i] = true;
    }
  }
}

}  // namespace

bool Plan::has_gradient(std::size_t i) const {
  return learns[i] && !graph.nodes[i].op->traits().is_loss;
}

Plan make_plan(Graph graph, std::uint32_t batch) {
  if (batch == 0) throw Error("a batch of 0 images cannot be trained on");
  Plan plan;
  plan.graph = std::move(graph);
  plan.batch = batch;
  plan_lifetimes(plan);
  share_buffers(plan);
  plan_learning(plan);
  return plan;
}

std::size_t relu_after(const Plan& plan, std::size_t i) {
  const std::vector<Node>& nodes = plan.graph.nodes;
  for (std::size_t j = i + 1; j < nodes.size(); ++j) {
    if (nodes[j].inputs[0] != i || !nodes[j].op->traits().is_relu) continue;
    const bool in_place = plan.activation_buffers[j] == plan.activation_buffers[i] &&
                          plan.gradient_buffers[j] == plan.gradient_buffers[i];
    return in_place ? j : no_node;
  }
  return no_node;
}

Arena plan_arena(std::span<const Lifetime> lifetimes, std::span<const std::size_t> sizes,
                 std::size_t alignment) {
  Arena arena;
  arena.offsets.resize(sizes.size());
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&sizes](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  std::vector<std::size_t> placed;  // by offset
  const auto by_offset = [&arena](std::size_t a, std::size_t b) {
    return arena.offsets[a] < arena.offsets[b];
  };
  for (const std::size_t block : order) {
    if (sizes[block] == 0) continue;
    // First fit: the lowest gap between blocks that are alive at the same time.
    std::size_t offset = 0;
    for (const std::size_t other : placed) {
      const bool meet = lifetimes[block].first <= lifetimes[other].last &&
                        lifetimes[other].first <= lifetimes[block].last;
      if (!meet) continue;
      if (offset + sizes[block] <= arena.offsets[other]) break;
      const std::size_t end = arena.offsets[other] + sizes[other];
      offset = std::max(offset, round_up(end, alignment));
    }
    arena.offsets[block] = offset;
    arena.bytes = std::max(arena.bytes, offset + sizes[block]);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), block, by_offset), block);
  }
  return arena;
}

namespace {

// The deviation of the rules that draw from a normal distribution; 0 for the others.
double deviation_of(const Init& init, double fan_in, double fan_out) {
  switch (init.rule) {
    case Init::Rule::gaussian:
      return init.value;
    case Init::Rule::he_normal:
      return std::sqrt(2 / fan_in);
    case Init::Rule::he_fan_out:
      return std::sqrt(2 / fan_out);
    case Init::Rule::orthogonal_columns:
      return 1;
    default:
      return 0;
  }
}

// The bound of the rules that draw uniformly from ±bound.
double bound_of(const Init& init, double fan_in, double fan_out) {
  switch (init.rule) {
    case Init::Rule::xavier:
      return std::sqrt(3 / fan_in);
    case Init::Rule::glorot_uniform:
      return std::sqrt(6 / (fan_in + fan_out));
    case Init::Rule::uniform_fan_in:
      return std::sqrt(1 / fan_in);
    default:
      return init.value;
  }
}

// Gram-Schmidt on the columns of a row-major matrix.
void make_orthonormal_columns(std::vector<float>& values, std::size_t columns) {
  const std::size_t rows = values.size() / columns;
  std::vector<std::vector<double>> done;
  for (std::size_t column = 0; column < columns; ++column) {
    std::vector<double> current(rows);
    for (std::size_t row = 0; row < rows; ++row) current[row] = values[row * columns + column];
    for (const std::vector<double>& other : done) {
      const double shared = std::inner_product(current.begin(), current.end(), other.begin(), 0.0);
      for (std::size_t row = 0; row < rows; ++row) current[row] -= shared * other[row];
    }
    const double length =
        std::sqrt(std::inner_product(current.begin(), current.end(), current.begin(), 0.0));
    for (std::size_t row = 0; row < rows; ++row) {
      current[row] /= length;
      values[row * columns + column] = static_cast<float>(current[row]);
    }
    done.push_back(std::move(current));
  }
}

}  // namespace

std::vector<float> initial_values(const Parameter& parameter, std::size_t number,
                                  std::uint64_t seed) {
  const auto elements = static_cast<std::size_t>(parameter.elements());
  const Init& init = parameter.init;
  if (init.rule == Init::Rule::constant) {
    return std::vector<float>(elements, static_cast<float>(init.value));
  }
  if (init.rule == Init::Rule::second_quarter) {
    std::vector<float> values(elements);
    for (std::size_t i = elements / 4; i < elements / 2; ++i) {
      values[i] = static_cast<float>(init.value);
    }
    return values;
  }
  const std::uint64_t key = mix64(mix64(seed) + number);
  std::vector<float> values(elements);
  const double all = static_cast<double>(elements);
  // In canonical shapes (O, I, …), the size of the kernel counts in both fans.
  const double fan_in = all / static_cast<double>(parameter.shape.at(0));
  const double fan_out =
      parameter.shape.size() < 2 ? all : all / static_cast<double>(parameter.shape[1]);
  const double deviation = deviation_of(init, fan_in, fan_out);
  if (deviation > 0) {
    for (std::size_t i = 0; i < elements; ++i) {  // Box-Muller; 1 − u is never 0
      const double radius =
          std::sqrt(-2 * std::log(1 - double{unit_float(random_bits(key, 2 * i))}));
      const double angle = 2 * std::numbers::pi * double{unit_float(random_bits(key, 2 * i + 1))};
      values[i] = static_cast<float>(deviation * radius * std::cos(angle));
    }
    if (init.rule == Init::Rule::orthogonal_columns) {
      make_orthonormal_columns(values, static_cast<std::size_t>(parameter.shape.at(1)));
    }
    return values;
  }
  const double bound = bound_of(init, fan_in, fan_out);
  for (std::size_t i = 0; i < elements; ++i) {
    const double unit = double{unit_float(random_bits(key, i))};
    values[i] = static_cast<float>((2 * unit - 1) * bound);
  }
  return values;
}

}  // namespace feedrate::trainer
