#pragma once
// How values that the world knows in canonical order (NCHW, KCRS) lie in device memory. Interleaved
// values are groups of pixels: of images, filters or units; what has no pixels lies as it is known.

#include <span>
#include <vector>

#include "trainer/graph/graph.h"

namespace feedrate::trainer::cuda {

struct Layout {
  std::int64_t groups = 1;
  std::int64_t channels = 1;
  std::int64_t pixels = 1;
  std::int64_t stored = 1;  // channels of a pixel in memory; those beyond `channels` are 0

  std::int64_t elements() const { return groups * channels * pixels; }
  std::int64_t stored_elements() const { return groups * stored * pixels; }
};

std::vector<float> to_stored(const Layout& layout, std::span<const float> canonical);
std::vector<float> from_stored(const Layout& layout, std::span<const float> stored);

/// Of an image's output of every node, by node, as it lies in memory. Pixels of 3 channels get a
/// fourth where convolutions alone read them, which load all of them at once then.
std::vector<Extent> stored_extents(const Graph& graph);
/// Of every parameter.
std::vector<Layout> parameter_layouts(const Graph& graph, std::span<const Extent> stored);

}  // namespace feedrate::trainer::cuda
