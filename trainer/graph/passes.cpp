#include "trainer/graph/passes.h"

#include <algorithm>
#include <initializer_list>
#include <numeric>

#include "formats/base/bytes.h"
#include "trainer/graph/op.h"

namespace feedrate::trainer {
namespace {

class Counter {
 public:
  Counter(const Plan& plan, const Fused& fused, std::string_view precision)
      : plan_(plan),
        fused_(fused),
        nodes_(plan.graph.nodes),
        narrow_(precision == "bf16" || precision == "fp16"),
        loss_scaled_(precision == "fp16"),
        input_(stored_input(plan.graph, narrow_ ? 2 : 4)) {}

  std::vector<Pass> count() {
    std::vector<bool> relu_done(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!relu_done[i]) forward(i);
      if (computes_relu(i)) relu_done[relu_after(plan_, i)] = true;
    }
    for (std::size_t i = nodes_.size(); i-- > 0;) {
      if (!plan_.learns[i]) continue;
      if (!fused_.gradient_done(plan_, i)) backward(i);
      gradient_sums(i);
    }
    update();
    return std::move(passes_);
  }

 private:
  double value_bytes() const { return narrow_ ? 2 : 4; }

  /// A kernel of ours.
  void add(std::string_view op, std::string_view what, std::initializer_list<double> values,
           double parameters = 0) {
    add_pass(op, what, values, parameters, true);
  }
  /// A call of a library, a copy or a fill.
  void add_call(std::string_view op, std::string_view what, std::initializer_list<double> values,
                double parameters = 0) {
    add_pass(op, what, values, parameters, false);
  }
  void add_pass(std::string_view op, std::string_view what, std::initializer_list<double> values,
                double parameters, bool kernel) {
    const bool early = kernel && follows_kernel_ && fused_.early_kernels;
    passes_.push_back(
        {op, what, std::accumulate(values.begin(), values.end(), 0.0), parameters, beside_, early});
    follows_kernel_ = kernel;
  }

  /// Bytes of node i's output or of its gradient.
  double bytes(std::size_t i) const {
    const Extent& extent = i == 0 ? input_.extent : nodes_[i].extent;
    return value_bytes() * plan_.batch * static_cast<double>(extent.elements());
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
  /// In 16 bits the gradient of aligned groups of filters is computed group by group.
  std::int64_t groups_apart(const Node& node) const {
    const std::int64_t groups = node.attributes.integer("groups", 1);
    const std::int64_t lanes = 16 / static_cast<std::int64_t>(value_bytes());
    const auto aligned = [&](std::int64_t channels) { return channels / groups % lanes == 0; };
    const bool apart =
        narrow_ && aligned(nodes_[node.inputs[0]].extent.channels) && aligned(node.extent.channels);
    return apart ? groups : 1;
  }
  double filter_values(const Node& node) const {
    return static_cast<double>(plan_.graph.parameters[node.parameters[0]].elements());
  }
  double weight_bytes(const Node& node) const { return value_bytes() * parameter_values(node); }
  bool has_bias(const Node& node) const { return node.parameters.size() > 1; }
  /// The position of each largest value, a byte each.
  double winners(std::size_t i) const {
    return nodes_[i].op->traits().pooling == Pooling::maximum ? bytes(i) / value_bytes() : 0;
  }

  /// Which values are positive: a byte for each 16 bytes of values, or, where channels do not fill
  /// them, for each value.
  double bits(std::size_t i) const {
    const auto lanes = static_cast<std::int64_t>(16 / value_bytes());
    const double groups = nodes_[i].extent.channels % lanes == 0 ? 16 : value_bytes();
    return bytes(i) / groups;
  }

  /// Whether the layer computes the relu behind it, as the CUDA layers' does_relu() say.
  bool computes_relu(std::size_t i) const {
    if (relu_after(plan_, i) == no_node) return false;
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
      add_call(op, "forward", {in, out}, weight_bytes(node));
      if (traits.weights == WeightKind::filters && has_bias(node)) add(op, "bias", {2 * out});
    } else if (traits.scales_channels) {
      add(op, "statistics", {in});
      const BlockEnd* end = fused_.end_with_norm(i);
      if (end == nullptr || !end->forward) add(op, "forward", {in, out});
    } else if (traits.is_loss) {
      add(op, "forward", {in, out});
      add(op, "metrics", {});
    } else if (traits.is_recurrent) {
      recurrent_forward(i);
    } else if (fused_.end_of(i) != nullptr && fused_.end_of(i)->forward) {
      add(op, "block end, forward", {in, out, bits(i)});
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
      const BlockEnd* end = fused_.end_with_norm(i);
      if (end == nullptr || !end->backward) add(op, "gradient sums", {out, in});
      if (input_learns) add(op, "input gradient", {out, 2 * in});
    } else if (traits.is_recurrent) {
      recurrent_backward(i);
    } else if (traits.is_residual_sum) {
      sum_backward(i);
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

  void sum_backward(std::size_t i) {
    const Node& node = nodes_[i];
    const std::string_view op = node.op->name();
    const BlockEnd* end = fused_.end_of(i);
    if (end != nullptr && end->backward) {
      // The terms in, the gradient out, what the norms read, and where the relu is open.
      double moved = (end->term_reader == no_node ? 2 : 3) * bytes(i);
      for (const std::size_t norm : end->norms) moved += norm == no_node ? 0 : bytes(norm);
      add(op, "block end, backward", {moved, end->forward ? bits(i) : bytes(i)});
      // The gradient and both inputs in, two gradients out.
      if (end->has_two_norms()) add(op, "gradients of two norms", {5 * bytes(i)});
    }
    for (std::size_t k = 0; k < 2; ++k) {
      const std::size_t input = node.inputs[k];
      const bool in_place = plan_.gradient_buffers[input] == plan_.gradient_buffers[i] ||
                            (k == 1 && fused_.alias_of(i) != nullptr);
      if (plan_.has_gradient(input) && !in_place) add_call(op, "gradient's copy", {2 * bytes(i)});
    }
  }

  void gradient_sums(std::size_t i) {
    const auto add_sum = [this](std::size_t input) {
      add("gradient sums", "2 terms", {3 * bytes(input)});
    };
    for (std::size_t k = 0; k < nodes_[i].inputs.size(); ++k) {
      const bool sums = plan_.adds[i][k] && plan_.has_gradient(nodes_[i].inputs[k]);
      if (sums && fused_.end_with_term(i, k) == nullptr) add_sum(nodes_[i].inputs[k]);
    }
    for (const Alias& alias : fused_.aliases) {
      if (alias.added_after == i) add_sum(nodes_[alias.sum].inputs[1]);
    }
  }

  void products_backward(std::size_t i) {
    const Node& node = nodes_[i];
    const std::string_view op = node.op->name();
    const double out = bytes(i), in = all_inputs(node);
    const bool filters = node.op->traits().weights == WeightKind::filters;
    beside_ = fused_.on_branch(i);
    if (beside_) follows_kernel_ = false;
    if (has_bias(node)) add(op, "bias gradient", {out});
    const std::int64_t calls = filters ? groups_apart(node) : 1;
    for (std::int64_t g = 0; g < calls; ++g) {
      const double share = 1.0 / static_cast<double>(calls);
      add_call(op, "weight gradient", {share * in, share * out},
               share * (filters ? value_bytes() : 4) * parameter_values(node));
    }
    if (filters && node.inputs[0] == 0 && node.attributes.integer("kernel") % input_.block != 0) {
      add(op, "filters' edge", {});
    }
    beside_ = false;
    if (filters && narrow_) narrow_gradients_ += filter_values(node);
    if (plan_.has_gradient(node.inputs[0])) {
      add_call(op, "input gradient", {out, in}, weight_bytes(node));
    }
  }

  // Rows and states, which are fp32, in bytes of the whole batch.
  struct Recurrence {
    std::int64_t steps;
    double rows;  // the same number
    double row, state;
  };
  Recurrence recurrence(const Node& node) const {
    const Extent& in = nodes_[node.inputs[0]].extent;
    const double value = 4.0 * plan_.batch;
    return {.steps = in.height,
            .rows = static_cast<double>(in.height),
            .row = value * static_cast<double>(in.channels * in.width),
            .state = value * static_cast<double>(node.extent.channels)};
  }
  void recurrent_forward(std::size_t i) {
    const Node& node = nodes_[i];
    const std::string_view op = node.op->name();
    const auto [steps, rows, row, state] = recurrence(node);
    add(op, "rows", {bytes(node.inputs[0]), rows * row});
    add_call(op, "products of inputs", {rows * row, rows * 4 * state}, 4 * parameter_values(node));
    add_call(op, "first state", {state});
    for (std::int64_t r = 0; r < steps; ++r) {
      if (r > 0) add_call(op, "products of states", {state, 4 * state});
      add(op, "cells", {r > 0 ? 11 * state : 7 * state, state});
    }
  }
  void recurrent_backward(std::size_t i) {
    const Node& node = nodes_[i];
    const std::string_view op = node.op->name();
    const auto [steps, rows, row, state] = recurrence(node);
    for (std::int64_t r = steps; r-- > 0;) {
      add(op, "cell gradients", {8 * state, 5 * state});
      if (r > 0) add_call(op, "state gradients", {5 * state});
    }
    add_call(op, "weight gradient", {rows * row, rows * 4 * state});
    add_call(op, "recurrent gradient", {rows * state, rows * 4 * state});
    add(op, "bias gradient", {rows * 4 * state});
    if (!plan_.has_gradient(node.inputs[0])) return;
    add_call(op, "input gradient", {rows * 4 * state, rows * row});
    add(op, "rows", {rows * row, bytes(node.inputs[0])});
  }

  void update() {
    if (!fused_.weight_branch.empty()) follows_kernel_ = false;  // it waits for the branch
    double learned = 0;
    bool statistics = false;
    for (const Parameter& parameter : plan_.graph.parameters) {
      if (parameter.learned) learned += static_cast<double>(parameter.elements());
      statistics |= !parameter.learned;
    }
    double gradients = 4 * (learned - narrow_gradients_) + value_bytes() * narrow_gradients_;
    if (loss_scaled_) {
      add("update", "unscaled gradients", {}, gradients + 4 * learned);
      gradients = 4 * learned;
    }
    add("update", "rules", {});
    // Gradient, value and momentum; the copy that products read.
    add("update", "values", {}, gradients + (8 + 8 + (narrow_ ? value_bytes() : 0)) * learned);
    if (statistics) add("update", "statistics", {});
    if (loss_scaled_) add("update", "loss scale", {});
  }

  const Plan& plan_;
  const Fused& fused_;
  const std::vector<Node>& nodes_;
  bool narrow_;
  bool loss_scaled_;
  StoredExtent input_;
  double narrow_gradients_ = 0;  // values of filters
  bool beside_ = false;          // the passes that are added now
  bool follows_kernel_ = false;  // the next pass, on its stream
  std::vector<Pass> passes_;
};

}  // namespace

std::vector<Pass> count_passes(const Plan& plan, const Fused& fused, std::string_view precision) {
  return Counter(plan, fused, precision).count();
}

std::int64_t blocks_of(std::int64_t kernel, std::int64_t block) {
  return formats::round_up(kernel, block) / block;
}

StoredExtent stored_input(const Graph& graph, std::size_t value_bytes) {
  const Extent& image = graph.nodes.at(0).extent;
  const auto lanes = static_cast<std::int64_t>(16 / value_bytes);
  std::vector<const Node*> readers;
  for (const Node& node : graph.nodes) {
    if (std::ranges::find(node.inputs, std::size_t{0}) != node.inputs.end()) {
      readers.push_back(&node);
    }
  }
  const bool convolutions_alone = std::ranges::all_of(readers, [](const Node* node) {
    return node->op->traits().weights == WeightKind::filters &&
           node->attributes.integer("groups", 1) == 1;
  });
  if (image.channels != 3 || !convolutions_alone) return {image};
  if (readers.size() == 1) {
    const Attributes& conv = readers[0]->attributes;
    const std::int64_t block = conv.integer("stride"), pad = conv.integer("pad");
    const std::int64_t more = blocks_of(conv.integer("kernel"), block) - 1;
    const Extent blocks{formats::round_up(image.channels * block * block, lanes),
                        readers[0]->extent.height + more, readers[0]->extent.width + more};
    const bool whole =
        blocks.height * block >= image.height + pad && blocks.width * block >= image.width + pad;
    if (block > 1 && whole) return {blocks, block, pad};
  }
  return {{lanes, image.height, image.width}};
}

}  // namespace feedrate::trainer
