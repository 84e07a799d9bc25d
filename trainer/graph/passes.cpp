#include "trainer/graph/passes.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>

#include "trainer/graph/op.h"

namespace feedrate::trainer {
namespace {

class Counter {
 public:
  Counter(const Plan& plan, std::string_view precision)
      : plan_(plan),
        nodes_(plan.graph.nodes),
        narrow_(precision == "bf16" || precision == "fp16"),
        loss_scaled_(precision == "fp16"),
        pixel_channels_(stored_pixel_channels(plan.graph)) {}

  std::vector<Pass> count() {
    std::vector<bool> relu_done(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!relu_done[i]) forward(i);
      if (computes_relu(i)) relu_done[relu_after(plan_, i)] = true;
    }
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (!plan_.learns[i]) continue;
      backward(i);
      for (std::size_t k = 0; k < nodes_[i].inputs.size(); ++k) {
        const std::size_t input = nodes_[i].inputs[k];
        if (plan_.adds[i][k] && plan_.has_gradient(input)) {
          add("gradient sums", "2 terms", {3 * bytes(input)});
        }
      }
    }
    update();
    return std::move(passes_);
  }

 private:
  double value_bytes() const { return narrow_ ? 2 : 4; }

  void add(std::string_view op, std::string_view what, std::initializer_list<double> values,
           double parameters = 0) {
    passes_.push_back({op, what, std::accumulate(values.begin(), values.end(), 0.0), parameters});
  }

  /// Of node i's output, or of its gradient.
  double bytes(std::size_t i) const {
    const Extent& extent = nodes_[i].extent;
    const std::int64_t channels = i == 0 ? pixel_channels_ : extent.channels;
    return value_bytes() * plan_.batch *
           static_cast<double>(channels * extent.height * extent.width);
  }
  double all_inputs(const Node& node) const {
    return std::accumulate(node.inputs.begin(), node.inputs.end(), 0.0,
                           [this](double sum, std::size_t i) { return sum + bytes(i); });
  }
  double parameter_values(const Node& node) const {
    return std::accumulate(node.parameters.begin(), node.parameters.end(), 0.0,
                           [this](double sum, std::size_t number) {
                             const Parameter& one = plan_.graph.parameters[number];
                             return sum + static_cast<double>(one.learned ? one.elements() : 0);
                           });
  }
  double weight_bytes(const Node& node) const { return value_bytes() * parameter_values(node); }
  bool has_bias(const Node& node) const { return node.parameters.size() > 1; }
  /// The position of each largest value, a byte each.
  double winners(std::size_t i) const {
    return nodes_[i].op->traits().pooling == Pooling::maximum ? bytes(i) / value_bytes() : 0;
  }

  /// Whether the layer computes the relu behind it, as the CUDA layers' does_relu() say.
  bool computes_relu(std::size_t i) const {
    if (relu_after(plan_, i) == 0) return false;
    const OpTraits& traits = nodes_[i].op->traits();
    if (traits.weights == WeightKind::filters) return has_bias(nodes_[i]);
    if (traits.weights == WeightKind::matrix) return narrow_;
    return traits.scales_channels || traits.is_residual_sum;
  }

  void forward(std::size_t i) {
    const Node& node = nodes_[i];
    const OpTraits& traits = node.op->traits();
    const std::string_view op = node.op->name();
    const double out = bytes(i), in = all_inputs(node);
    if (traits.is_input) {
      add(op, "forward", {static_cast<double>(plan_.graph.input.bytes()) * plan_.batch, out});
    } else if (traits.weights != WeightKind::none) {
      add(op, "forward", {in, out}, weight_bytes(node));
      if (traits.weights == WeightKind::filters && has_bias(node)) add(op, "bias", {2 * out});
    } else if (traits.scales_channels) {
      add(op, "statistics", {in});
      add(op, "statistics, finished", {});
      add(op, "forward", {in, out});
    } else if (traits.is_loss) {
      add(op, "forward", {in, out});
      add(op, "metrics", {});
    } else if (traits.is_recurrent) {
      recurrent_forward(i);
    } else if (node.inputs.size() > 1 && !traits.is_residual_sum) {
      for (const std::size_t input : node.inputs) add(op, "forward", {2 * bytes(input)});
    } else {
      add(op, "forward", {in, out, winners(i)});
    }
  }

  void backward(std::size_t i) {
    const Node& node = nodes_[i];
    const OpTraits& traits = node.op->traits();
    const std::string_view op = node.op->name();
    const double out = bytes(i), in = all_inputs(node);
    const bool input_learns = plan_.has_gradient(node.inputs.at(0));
    if (traits.weights != WeightKind::none) {
      products_backward(i);
    } else if (traits.scales_channels) {
      add(op, "gradient sums", {out, in});
      add(op, "gradient sums, finished", {});
      if (input_learns) add(op, "input gradient", {out, 2 * in});
    } else if (traits.is_recurrent) {
      recurrent_backward(i);
    } else if (traits.is_residual_sum) {
      for (const std::size_t input : node.inputs) {
        const bool in_place = plan_.gradient_homes[input] == plan_.gradient_homes[i];
        if (plan_.has_gradient(input) && !in_place) add(op, "gradient's copy", {2 * out});
      }
    } else if (node.inputs.size() > 1) {
      for (const std::size_t input : node.inputs) {
        if (plan_.has_gradient(input)) add(op, "input gradient", {2 * bytes(input)});
      }
    } else if (input_learns) {
      const double again = (traits.backward_reads_input ? in : 0) +
                           (traits.backward_reads_output && !traits.is_loss ? out : 0);
      add(op, "input gradient", {out, again, winners(i), in});
    }
  }

  void products_backward(std::size_t i) {
    const Node& node = nodes_[i];
    const std::string_view op = node.op->name();
    const double out = bytes(i), in = all_inputs(node);
    const bool filters = node.op->traits().weights == WeightKind::filters;
    if (has_bias(node)) {
      add(op, "bias gradient", {out});
      if (filters) add(op, "bias gradient, finished", {});
    }
    add(op, "weight gradient", {in, out}, (filters ? value_bytes() : 4) * parameter_values(node));
    if (filters && narrow_) {
      add(op, "weight gradient, widened", {}, (value_bytes() + 4) * parameter_values(node));
    }
    if (plan_.has_gradient(node.inputs[0])) {
      add(op, "input gradient", {out, in}, weight_bytes(node));
    }
  }

  // Rows of states and gates are fp32.
  void recurrent_forward(std::size_t i) {
    const Node& node = nodes_[i];
    const std::string_view op = node.op->name();
    const Extent& in = nodes_[node.inputs[0]].extent;
    const double row = 4.0 * plan_.batch * static_cast<double>(in.channels * in.width);
    const double state = 4.0 * plan_.batch * static_cast<double>(node.extent.channels);
    const auto rows = static_cast<double>(in.height);
    add(op, "rows", {bytes(node.inputs[0]), rows * row});
    add(op, "products of inputs", {rows * row, rows * 4 * state}, 4 * parameter_values(node));
    add(op, "first state", {state});
    for (std::int64_t r = 0; r < in.height; ++r) {
      if (r > 0) add(op, "products of states", {state, 4 * state});
      add(op, "cells", {r > 0 ? 11 * state : 7 * state, state});
    }
  }
  void recurrent_backward(std::size_t i) {
    const Node& node = nodes_[i];
    const std::string_view op = node.op->name();
    const Extent& in = nodes_[node.inputs[0]].extent;
    const double row = 4.0 * plan_.batch * static_cast<double>(in.channels * in.width);
    const double state = 4.0 * plan_.batch * static_cast<double>(node.extent.channels);
    const auto rows = static_cast<double>(in.height);
    for (std::int64_t r = in.height; r-- > 0;) {
      add(op, "cell gradients", {8 * state, 5 * state});
      if (r > 0) add(op, "state gradients", {5 * state});
    }
    add(op, "weight gradient", {rows * row, rows * 4 * state});
    add(op, "recurrent gradient", {rows * state, rows * 4 * state});
    add(op, "bias gradient", {rows * 4 * state});
    if (!plan_.has_gradient(node.inputs[0])) return;
    add(op, "input gradient", {rows * 4 * state, rows * row});
    add(op, "rows", {rows * row, bytes(node.inputs[0])});
  }

  void update() {
    double learned = 0;
    bool statistics = false;
    for (const Parameter& parameter : plan_.graph.parameters) {
      if (parameter.learned) learned += static_cast<double>(parameter.elements());
      statistics |= !parameter.learned;
    }
    if (loss_scaled_) add("update", "unscaled gradients", {}, 8 * learned);
    add("update", "rules", {});
    // Gradient, value and momentum; the copy that products read.
    add("update", "values", {}, (4 + 8 + 8 + (narrow_ ? value_bytes() : 0)) * learned);
    if (statistics) add("update", "statistics", {});
    if (loss_scaled_) add("update", "loss scale", {});
  }

  const Plan& plan_;
  const std::vector<Node>& nodes_;
  bool narrow_;
  bool loss_scaled_;
  std::int64_t pixel_channels_;
  std::vector<Pass> passes_;
};

}  // namespace

std::vector<Pass> count_passes(const Plan& plan, std::string_view precision) {
  return Counter(plan, precision).count();
}

std::int64_t stored_pixel_channels(const Graph& graph) {
  const std::int64_t channels = graph.nodes.at(0).extent.channels;
  const bool convolutions_alone = std::ranges::all_of(graph.nodes, [](const Node& node) {
    const bool reads = std::ranges::find(node.inputs, std::size_t{0}) != node.inputs.end();
    return !reads || (node.op->traits().weights == WeightKind::filters &&
                      node.attributes.integer("groups", 1) == 1);
  });
  return channels == 3 && convolutions_alone ? 4 : channels;
}

}  // namespace feedrate::trainer
