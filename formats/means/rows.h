#pragma once
// The rows of the registry in mean_format.cpp, one line a dialect, and a check that they share.

#include "formats/means/mean_format.h"

namespace feedrate::formats {

extern const MeanFormat& caffe_mean_format;
extern const MeanFormat& cntk_mean_format;
extern const MeanFormat& mxnet_mean_format;

/// The numbers of a header as the shape of a mean image; throws Error when they cannot be one.
Shape mean_shape(std::uint64_t height, std::uint64_t width, std::uint64_t channels);

}  // namespace feedrate::formats
