#pragma once
// How values lie in device memory. Callers see them in canonical order (NCHW, KCRS); on the device
// they are interleaved (NHWC, KRSC): groups of pixels, where a group is an image, a filter or a
// unit. Parameters without pixels keep their canonical order.

#include <span>
#include <vector>

#include "trainer/backends/cuda/values.cuh"
#include "trainer/graph/graph.h"

namespace feedrate::trainer::cuda {

struct Layout {
  std::int64_t groups = 1;
  std::int64_t channels = 1;
  std::int64_t pixels = 1;
  std::int64_t stored = 1;  // channels of a pixel in memory; those after `channels` are 0

  std::int64_t elements() const { return groups * channels * pixels; }
  std::int64_t stored_elements() const { return groups * stored * pixels; }
};

std::vector<float> to_stored(const Layout& layout, std::span<const float> canonical);
std::vector<float> from_stored(const Layout& layout, std::span<const float> stored);

/// By node: the extent of its output for one image, as it lies in memory. Only the input's pixels
/// may have more channels than the graph says (stored_pixel_channels()).
std::vector<Extent> stored_extents(const Graph& graph, ValueType type);
/// By parameter: whether it holds a convolution's filters.
std::vector<bool> parameters_of_filters(const Graph& graph);
/// By parameter.
std::vector<Layout> parameter_layouts(const Graph& graph, std::span<const Extent> stored);

}  // namespace feedrate::trainer::cuda
