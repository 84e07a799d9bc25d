#pragma once
// One sample under views that the caller chooses: what a loader would put into a batch if its recipe drew
// them.

#include <cstdint>
#include <span>

#include "formats/dataset.h"
#include "loader/pixels/view.h"

namespace feedrate::loader {

/// Fills `pixels` with the image, the last window × `channels`, HWC. Each view is of what the one before it
/// made. By the loader's own code, without threads. Any thread. Throws SampleError on damage, Error where a
/// view does not suit the image, or there is none.
void render_views(const formats::Dataset& dataset, std::uint64_t index, std::span<const View> views,
                  std::uint32_t channels, formats::Buffer& pixels);

}  // namespace feedrate::loader
