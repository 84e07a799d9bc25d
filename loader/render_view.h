#pragma once
// One sample under a view that the caller chooses: what a loader would put into a batch if its recipe drew
// that view.

#include <cstdint>

#include "formats/dataset.h"
#include "loader/pixels/view.h"

namespace feedrate::loader {

/// Fills `pixels` with the image, view.window × `channels`, HWC. By the loader's own code, without threads. Any
/// thread. Throws SampleError on damage, Error where the view does not suit the image.
void render_view(const formats::Dataset& dataset, std::uint64_t index, const View& view,
                 std::uint32_t channels, formats::Buffer& pixels);

}  // namespace feedrate::loader
