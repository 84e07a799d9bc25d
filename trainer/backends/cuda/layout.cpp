#include "trainer/backends/cuda/layout.cuh"

#include <cassert>

#include "trainer/graph/op.h"
#include "trainer/graph/passes.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer::cuda {
namespace {

template <class Body>
void each_value(const Layout& a, const Body& body) {
  const std::int64_t block = a.stored.block;
  const auto place = [&](std::int64_t group, std::int64_t channel, std::int64_t y, std::int64_t x) {
    const Extent& stored = a.stored.extent;
    const std::int64_t row = y + a.stored.pad, column = x + a.stored.pad;
    const std::int64_t of_block = row % block * block + column % block;
    return ((group * stored.height + row / block) * stored.width + column / block) *
               stored.channels +
           of_block * a.channels + channel;
  };
  std::size_t number = 0;
  for (std::int64_t group = 0; group < a.groups; ++group) {
    for (std::int64_t channel = 0; channel < a.channels; ++channel) {
      for (std::int64_t y = 0; y < a.height; ++y) {
        for (std::int64_t x = 0; x < a.width; ++x) {
          body(number++, static_cast<std::size_t>(place(group, channel, y, x)));
        }
      }
    }
  }
}

}  // namespace

Layout layout_of(std::int64_t groups, const Extent& extent, const StoredExtent& stored) {
  return {.groups = groups,
          .channels = extent.channels,
          .height = extent.height,
          .width = extent.width,
          .stored = stored};
}

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

std::vector<StoredExtent> stored_extents(const Graph& graph, ValueType type) {
  std::vector<StoredExtent> stored;
  for (const Node& node : graph.nodes) stored.push_back({node.extent});
  stored[0] = stored_input(graph, bytes_of(type));
  return stored;
}

std::vector<bool> parameters_of_filters(const Graph& graph) {
  std::vector<bool> filters(graph.parameters.size());
  for (const Node& node : graph.nodes) {
    if (node.op->traits().weights == WeightKind::filters) filters[node.parameters[0]] = true;
  }
  return filters;
}

std::vector<Layout> parameter_layouts(const Graph& graph, std::span<const StoredExtent> stored) {
  std::vector<Layout> all;
  for (const Parameter& parameter : graph.parameters) {
    const Extent values{.channels = parameter.elements()};
    all.push_back(layout_of(1, values, {values}));
  }
  for (const Node& node : graph.nodes) {
    if (node.op->traits().weights == WeightKind::none) continue;
    const std::size_t weight = node.parameters[0];
    Extent values = graph.nodes[node.inputs[0]].extent;
    StoredExtent of_group = stored[node.inputs[0]];
    of_group.pad = 0;
    if (node.op->traits().weights == WeightKind::filters) {
      const std::int64_t share = groups_of(node.attributes);
      const std::int64_t kernel = node.attributes.integer("kernel");
      const std::int64_t blocks = blocks_of(kernel, of_group.block);
      values = {values.channels / share, kernel, kernel};
      of_group.extent = {of_group.extent.channels / share, blocks, blocks};
    }
    all[weight] = layout_of(graph.parameters[weight].shape[0], values, of_group);
  }
  return all;
}

}  // namespace feedrate::trainer::cuda
