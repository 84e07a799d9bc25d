#include "trainer/graph/changes.h"

#include <algorithm>
#include <vector>

#include "formats/base/error.h"
#include "formats/base/kind.h"
#include "loader/pixels/pixel_scale.h"
#include "trainer/graph/op.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

namespace {

// In the order of init_words.
constexpr Init::Rule init_rules[] = {Init::Rule::xavier, Init::Rule::glorot_uniform,
                                     Init::Rule::he_normal, Init::Rule::he_fan_out};

Init start(std::string_view name) {
  const auto* const word = std::ranges::find(init_words, name);
  if (word == std::end(init_words)) {
    throw Error(unknown_kind("start of weights", name, init_words));
  }
  return {init_rules[word - init_words], 0};
}

void start_weights(std::string_view name, Graph& graph) {
  const Init init = start(name);
  for (const Node& node : graph.nodes) {
    if (node.op->traits().weights == WeightKind::none) continue;
    graph.parameters[node.parameters.at(0)].init = init;
  }
}

void start_branches_at_zero(Graph& graph) {
  bool any = false;
  for (const Node& node : graph.nodes) {
    if (!node.op->traits().is_residual_sum) continue;
    const Node& last = graph.nodes[node.inputs.at(0)];
    if (!last.op->traits().scales_channels) continue;
    graph.parameters[last.parameters.at(0)].init = {Init::Rule::constant, 0};
    any = true;
  }
  if (!any) {
    throw Error(join("network ", graph.network, ": has no residual branch that ends in a norm, so ",
                     "none can start at zero"));
  }
}

void scale_pixels(const Changes& changes, Graph& graph) {
  static constexpr std::string_view scales[] = {"scale", "scale1", "scale2", "scale3"};
  static constexpr std::string_view means[] = {"mean", "mean1", "mean2", "mean3"};
  Attributes& input = graph.nodes.front().attributes;
  if (!changes.means.empty()) {
    const std::vector<double> values = by_channel("means", changes.means, graph.input.channels);
    for (std::size_t k = 0; k < values.size() && k < std::size(means); ++k) {
      input[std::string(means[k])] = values[k];
    }
  }
  if (changes.deviations.empty()) return;
  const std::vector<double> values =
      by_channel("deviations", changes.deviations, graph.input.channels);
  for (std::size_t k = 0; k < values.size() && k < std::size(scales); ++k) {
    input[std::string(scales[k])] = scale_of_deviation(values[k]);
  }
}

}  // namespace

void apply(const Changes& changes, Graph& graph) {
  if (!changes.init.empty()) start_weights(changes.init, graph);
  scale_pixels(changes, graph);
  if (changes.zero_gamma) start_branches_at_zero(graph);
  if (!(changes.smoothing >= 0 && changes.smoothing < 1)) {
    throw Error(join("label smoothing must be from 0 to below 1, not ", changes.smoothing));
  }
  if (changes.smoothing > 0) {
    for (Node& node : graph.nodes) {
      if (node.op->traits().is_loss) node.attributes["smoothing"] = changes.smoothing;
    }
  }
  if (changes.decay_vectors) return;
  for (Parameter& parameter : graph.parameters) {
    if (parameter.shape.size() < 2) parameter.decay_scale = 0;
  }
}

}  // namespace feedrate::trainer
