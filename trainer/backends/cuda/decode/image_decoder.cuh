#pragma once
// The decoder behind Backend::image_decoder().

#include <memory>

#include "trainer/backends/image_decoder.h"

namespace feedrate::trainer::cuda {

/// On own_device(). Throws Error when it lacks memory.
std::unique_ptr<ImageDecoder> make_image_decoder(const DecoderSize& size);

}  // namespace feedrate::trainer::cuda
