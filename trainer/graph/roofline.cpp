#include "trainer/graph/roofline.h"

#include <algorithm>

#include "trainer/graph/op.h"

namespace feedrate::trainer {
namespace {

constexpr double gradient_bytes = 4;  // of parameters

NodeWork work_of(const Plan& plan, std::size_t i, double value_bytes) {
  const Node& node = plan.graph.nodes[i];
  const double batch = plan.batch;
  double inputs = 0;
  double input_gradients = 0;
  for (const std::size_t input : node.inputs) {
    const Extent& extent = plan.graph.nodes[input].extent;
    inputs += batch * static_cast<double>(extent.elements());
    if (plan.has_gradient(input)) {
      input_gradients += batch * static_cast<double>(extent.elements());
    }
  }
  double parameters = 0;
  for (const std::size_t number : node.parameters) {
    parameters += static_cast<double>(plan.graph.parameters[number].elements());
  }
  const double output = batch * static_cast<double>(node.extent.elements());
  // Pixels arrive as single bytes.
  const double read = node.inputs.empty() ? batch * static_cast<double>(plan.graph.input.bytes())
                                          : value_bytes * inputs;
  const double products = 2 * batch * static_cast<double>(plan.graph.macs(node));

  NodeWork work;
  work.forward = {products, read + value_bytes * (parameters + output)};
  if (!plan.learns[i]) return work;
  // One product for the gradient of the weights, one for the input gradient where it is needed.
  const double passes = (parameters > 0 ? 1 : 0) + (input_gradients > 0 ? 1 : 0);
  double values = input_gradients;
  if (plan.has_gradient(i)) values += output;
  if (input_gradients > 0) values += parameters;
  if (node.op->traits().backward_reads_input) values += inputs;
  if (node.op->traits().backward_reads_output) values += output;
  work.backward = {passes * products, value_bytes * values + gradient_bytes * parameters};
  return work;
}

}  // namespace

double Work::least_seconds(const Roof& roof) const {
  return std::max(flops / roof.flops, bytes / roof.bytes);
}

std::vector<NodeWork> count_work(const Plan& plan, double value_bytes) {
  std::vector<NodeWork> all;
  for (std::size_t i = 0; i < plan.graph.nodes.size(); ++i) {
    all.push_back(work_of(plan, i, value_bytes));
  }
  return all;
}

}  // namespace feedrate::trainer
