#include "trainer/backends/cuda/layout.cuh"

#include <cassert>

#include "trainer/graph/op.h"
#include "trainer/graph/passes.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer::cuda {
namespace {

template <class Body>
void each_value(const Layout& a, const Body& body) {
  const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  std::size_t number = 0;
  for (std::size_t group = 0; group < size(a.groups); ++group) {
    for (std::size_t channel = 0; channel < size(a.channels); ++channel) {
      for (std::size_t pixel = 0; pixel < size(a.pixels); ++pixel) {
        body(number++, (group * size(a.pixels) + pixel) * size(a.stored) + channel);
      }
    }
  }
}

Layout canonical_layout(std::int64_t elements) { return {1, elements, 1, elements}; }

}  // namespace

std::vector<float> to_stored(const Layout& layout, std::span<const float> canonical) {
  assert(static_cast<std::int64_t>(canonical.size()) == layout.elements());
  std::vector<float> stored(static_cast<std::size_t>(layout.stored_elements()));
  each_value(layout, [&](std::size_t from, std::size_t to) { stored[to] = canonical[from]; });
  return stored;
}

std::vector<float> from_stored(const Layout& layout, std::span<const float> stored) {
  assert(static_cast<std::int64_t>(stored.size()) == layout.stored_elements());
  std::vector<float> values(static_cast<std::size_t>(layout.elements()));
  each_value(layout, [&](std::size_t to, std::size_t from) { values[to] = stored[from]; });
  return values;
}

std::vector<Extent> stored_extents(const Graph& graph, ValueType type) {
  std::vector<Extent> stored;
  for (const Node& node : graph.nodes) stored.push_back(node.extent);
  stored[0].channels = stored_pixel_channels(graph, bytes_of(type));
  return stored;
}

std::vector<bool> parameters_of_filters(const Graph& graph) {
  std::vector<bool> filters(graph.parameters.size());
  for (const Node& node : graph.nodes) {
    if (node.op->traits().weights == WeightKind::filters) filters[node.parameters[0]] = true;
  }
  return filters;
}

std::vector<Layout> parameter_layouts(const Graph& graph, std::span<const Extent> stored) {
  std::vector<Layout> all;
  for (const Parameter& parameter : graph.parameters)
    all.push_back(canonical_layout(parameter.elements()));
  for (const Node& node : graph.nodes) {
    if (node.op->traits().weights == WeightKind::none) continue;
    const Extent& in = graph.nodes[node.inputs[0]].extent;
    const std::size_t weight = node.parameters[0];
    const bool conv = node.op->traits().weights == WeightKind::filters;
    const std::int64_t share = conv ? groups_of(node.attributes) : 1;
    const std::int64_t kernel = conv ? node.attributes.integer("kernel") : 1;
    all[weight] = {.groups = graph.parameters[weight].shape[0],
                   .channels = in.channels / share,
                   .pixels = conv ? kernel * kernel : in.height * in.width,
                   .stored = stored[node.inputs[0]].channels / share};
  }
  return all;
}

}  // namespace feedrate::trainer::cuda
