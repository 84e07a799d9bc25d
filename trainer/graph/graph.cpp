#include "trainer/graph/graph.h"

#include <algorithm>
#include <cmath>

#include "formats/base/error.h"
#include "trainer/graph/op.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

// Beyond these limits an index or a byte count could overflow; no real network comes near them.
constexpr double max_elements = 2147483647.0;                  // of one node's output, one image
constexpr double max_parameter = 1099511627776.0;              // 2^40, of one parameter
constexpr std::int64_t max_attribute = std::int64_t{1} << 24;  // 2^24: exact in a float, too

std::vector<Extent> input_extents(const Graph& graph, const Node& node) {
  std::vector<Extent> extents;
  for (const std::size_t input : node.inputs) extents.push_back(graph.nodes[input].extent);
  return extents;
}

// "conv2" for the second conv.
std::string numbered_name(const Graph& graph, const Op& op) {
  const auto same = [&op](const Node& node) { return node.op == &op; };
  return join(op.name(), std::count_if(graph.nodes.begin(), graph.nodes.end(), same) + 1);
}

void check_name(const Graph& graph, const std::string& name) {
  for (const Node& node : graph.nodes) {
    if (node.name == name) {
      throw Error(join("network ", graph.network, ": two nodes are named '", name, "'"));
    }
  }
}

void check_size(const std::string& where, const Extent& extent) {
  const double elements = static_cast<double>(extent.channels) *
                          static_cast<double>(extent.height) * static_cast<double>(extent.width);
  if (extent.channels < 1 || extent.height < 1 || extent.width < 1 || elements > max_elements) {
    throw Error(join(where, ": an output of ", extent.channels, "x", extent.height, "x",
                     extent.width, " is not possible"));
  }
}

void check_size(const std::string& where, const Parameter& parameter) {
  double elements = 1;
  for (const std::int64_t side : parameter.shape) elements *= static_cast<double>(side);
  if (elements < 1 || elements > max_parameter) {
    throw Error(
        join(where, ": parameter ", parameter.name, " of ", elements, " values is not possible"));
  }
}

// Adds what the operator leaves to the Builder: the node's name, initial values and scales.
void complete(Parameter& parameter, const std::string& node, const Builder::Layer& layer) {
  const bool op_says = parameter.init.rule != Init::Rule::constant;
  if (!parameter.learned || op_says) {
    // Statistics, and parameters whose op has a rule of its own, keep the op's initial values.
  } else if (parameter.name == "bias") {
    parameter.init = layer.bias;
    parameter.rate_scale = layer.bias_rate_scale;
    parameter.decay_scale = layer.bias_decay_scale;
  } else {
    parameter.init = layer.weight;
  }
  parameter.name = join(node, ".", parameter.name);
}

}  // namespace

std::int64_t Parameter::elements() const {
  std::int64_t product = 1;
  for (const std::int64_t side : shape) product *= side;
  return product;
}

double Attributes::number(std::string_view name, double absent) const {
  const auto found = find(name);
  return found == end() ? absent : found->second;
}

std::int64_t Attributes::integer(std::string_view name, std::int64_t absent) const {
  const double value = number(name, static_cast<double>(absent));
  if (value != std::floor(value) || std::abs(value) > static_cast<double>(max_attribute)) {
    throw Error(join("attribute '", name, "' must be a whole number below ", max_attribute,
                     ", not ", value));
  }
  return static_cast<std::int64_t>(value);
}

std::int64_t Graph::parameter_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters) {
    count += parameter.learned ? parameter.elements() : 0;
  }
  return count;
}

std::uint64_t Graph::activations() const {
  std::uint64_t count = 0;
  for (const Node& node : nodes) count += static_cast<std::uint64_t>(node.extent.elements());
  return count;
}

std::vector<bool> Graph::training_only() const {
  std::vector<bool> result(nodes.size(), true);
  result.back() = false;
  for (std::size_t j = nodes.size(); j-- > 0;) {
    for (const std::size_t i : nodes[j].inputs) result[i] = result[i] && result[j];
  }
  return result;
}

std::uint64_t Graph::macs() const {
  std::uint64_t total = 0;
  for (const Node& node : nodes) total += macs(node);
  return total;
}

std::uint64_t Graph::macs(const Node& node) const {
  return node.op->macs(node.attributes, input_extents(*this, node), node.extent);
}

Builder::Builder(std::string network, Shape input, std::uint32_t classes) {
  if (!input.plausible()) {
    throw Error(join("network ", network, ": cannot take images of ", input.height, "x",
                     input.width, "x", input.channels));
  }
  if (classes < 2) throw Error(join("network ", network, ": needs two classes or more"));
  graph_.network = std::move(network);
  graph_.input = input;
  graph_.classes = classes;
}

Builder::Value Builder::add(std::string_view op_name, std::vector<Value> inputs,
                            Attributes attributes, const Layer& layer) {
  const Op& wanted = op(op_name);
  Node node;
  node.name = layer.name.empty() ? numbered_name(graph_, wanted) : layer.name;
  node.op = &wanted;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  const std::string where = join("network ", graph_.network, ", ", node.name);
  check_name(graph_, node.name);
  for (const Value input : node.inputs) {
    if (input >= graph_.nodes.size())
      throw Error(join(where, ": takes a value that does not exist"));
  }
  try {
    const std::vector<Extent> extents = input_extents(graph_, node);
    node.extent = wanted.extent(node.attributes, extents);
    check_size(where, node.extent);
    for (Parameter& parameter : wanted.parameters(node.attributes, extents)) {
      check_size(where, parameter);
      complete(parameter, node.name, layer);
      node.parameters.push_back(graph_.parameters.size());
      graph_.parameters.push_back(std::move(parameter));
    }
  } catch (const Error& error) {
    const std::string_view message = error.what();
    if (message.starts_with(where)) throw;
    throw Error(join(where, ": ", message));
  }
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.size() - 1;
}

Builder::Value Builder::input(double scale, double mean) {
  const Shape& shape = graph_.input;
  return add("input", {},
             {{"scale", scale},
              {"mean", mean},
              {"channels", shape.channels},
              {"height", shape.height},
              {"width", shape.width}},
             {.name = "input"});
}

Builder::Value Builder::conv(Value x, std::int64_t filters, std::int64_t kernel,
                             std::int64_t stride, std::int64_t pad, const Layer& layer) {
  return add("conv", {x},
             {{"filters", static_cast<double>(filters)},
              {"kernel", static_cast<double>(kernel)},
              {"stride", static_cast<double>(stride)},
              {"pad", static_cast<double>(pad)},
              {"groups", static_cast<double>(layer.groups)},
              {"no_bias", layer.no_bias ? 1 : 0}},
             layer);
}

Builder::Value Builder::max_pool(Value x, std::int64_t kernel, std::int64_t stride,
                                 std::int64_t pad) {
  return add("max_pool", {x},
             {{"kernel", static_cast<double>(kernel)},
              {"stride", static_cast<double>(stride)},
              {"pad", static_cast<double>(pad)}},
             {});
}

Builder::Value Builder::max_pool_ceil(Value x, std::int64_t kernel, std::int64_t stride,
                                      std::int64_t pad) {
  return add("max_pool", {x},
             {{"kernel", static_cast<double>(kernel)},
              {"stride", static_cast<double>(stride)},
              {"pad", static_cast<double>(pad)},
              {"ceil", 1}},
             {});
}

Builder::Value Builder::avg_pool(Value x, std::int64_t kernel, std::int64_t stride) {
  return add("avg_pool", {x},
             {{"kernel", static_cast<double>(kernel)}, {"stride", static_cast<double>(stride)}},
             {});
}

Builder::Value Builder::avg_pool_bins(Value x, std::int64_t bins) {
  return add("avg_pool", {x}, {{"bins", static_cast<double>(bins)}}, {});
}

Builder::Value Builder::global_avg_pool(Value x) { return avg_pool_bins(x, 1); }

Builder::Value Builder::batch_norm(Value x, const Norm& norm) {
  return add("batch_norm", {x}, {{"epsilon", norm.epsilon}, {"momentum", norm.momentum}},
             {.weight = {Init::Rule::constant, norm.weight}});
}

Builder::Value Builder::shortcut(Value x, std::int64_t filters, std::int64_t stride) {
  return add("shortcut", {x},
             {{"filters", static_cast<double>(filters)}, {"stride", static_cast<double>(stride)}},
             {});
}

Builder::Value Builder::lrn(Value x, const Response& response) {
  return add("lrn", {x},
             {{"size", static_cast<double>(response.size)},
              {"alpha", response.alpha},
              {"beta", response.beta},
              {"k", response.k}},
             {});
}

Builder::Value Builder::concat(std::vector<Value> values) {
  return add("concat", std::move(values), {}, {});
}

Builder::Value Builder::sum(Value a, Value b) { return add("add", {a, b}, {}, {}); }

Builder::Value Builder::dense(Value x, std::int64_t units, const Layer& layer) {
  return add("dense", {x}, {{"units", static_cast<double>(units)}}, layer);
}

Builder::Value Builder::lstm(Value x, std::int64_t units, const Layer& layer) {
  return add("lstm", {x}, {{"units", static_cast<double>(units)}}, layer);
}

Builder::Value Builder::relu(Value x) { return add("relu", {x}, {}, {}); }

Builder::Value Builder::dropout(Value x, double share) {
  return add("dropout", {x}, {{"share", share}}, {});
}

void Builder::auxiliary_loss(Value logits, double weight) {
  add("softmax_loss", {logits}, {{"classes", graph_.classes}, {"auxiliary", 1}, {"weight", weight}},
      {});
}

Graph Builder::softmax_loss(Value logits) {
  add("softmax_loss", {logits}, {{"classes", graph_.classes}}, {.name = "loss"});
  if (!graph_.nodes.front().op->traits().is_input) {
    throw Error(join("network ", graph_.network, ": the first node must be the input"));
  }
  std::vector<int> readers(graph_.nodes.size());
  for (const Node& node : graph_.nodes) {
    for (const Value input : node.inputs) ++readers[input];
  }
  for (std::size_t i = 0; i + 1 < readers.size(); ++i) {
    const Node& node = graph_.nodes[i];
    const bool auxiliary = node.op->traits().is_loss && node.attributes.integer("auxiliary") != 0;
    if (readers[i] == 0 && !auxiliary) {
      throw Error(join("network ", graph_.network, ", ", graph_.nodes[i].name,
                       ": nothing reads its output"));
    }
  }
  return std::move(graph_);
}

}  // namespace feedrate::trainer
