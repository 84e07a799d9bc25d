#pragma once
// How values lie in device memory. Callers see them in canonical order (NCHW, KCRS); on the device
// they are interleaved (NHWC, KRSC): groups of pixels, where a group is an image, a filter or a
// unit. Parameters without pixels keep their canonical order.

#include <span>
#include <vector>

#include "trainer/backends/cuda/values.cuh"
#include "trainer/graph/graph.h"
#include "trainer/graph/passes.h"

namespace feedrate::trainer::cuda {

struct Layout {
  std::int64_t groups = 1;
  std::int64_t channels = 1;
  std::int64_t height = 1;
  std::int64_t width = 1;
  StoredExtent stored;  // of a group; what is no value of it is 0

  std::int64_t elements() const { return groups * channels * height * width; }
  std::int64_t stored_elements() const { return groups * stored.extent.elements(); }
};

/// `groups` images, or filters, of that extent.
Layout layout_of(std::int64_t groups, const Extent& extent, const StoredExtent& stored);

std::vector<float> to_stored(const Layout& layout, std::span<const float> canonical);
std::vector<float> from_stored(const Layout& layout, std::span<const float> stored);

/// By node.
std::vector<StoredExtent> stored_extents(const Graph& graph, ValueType type);
/// By parameter: whether it holds a convolution's filters.
std::vector<bool> parameters_of_filters(const Graph& graph);
/// By parameter.
std::vector<Layout> parameter_layouts(const Graph& graph, std::span<const StoredExtent> stored);

}  // namespace feedrate::trainer::cuda
