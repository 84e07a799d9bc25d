#pragma once
// One sample of a dataset, decoded as it is stored: for those who look at single images.

#include <cstdint>

#include "formats/dataset.h"

namespace feedrate::loader {

/// Reads the sample at `index` and decodes it into `pixels`, which grows to a power of two; the first
/// shape.bytes() of it are the image, HWC. Any thread, as Dataset::read. Throws SampleError on damage,
/// and where the file has become shorter.
formats::Sample read_pixels(const formats::Dataset& dataset, std::uint64_t index,
                            formats::Scratch& scratch, formats::Buffer& pixels);

}  // namespace feedrate::loader
