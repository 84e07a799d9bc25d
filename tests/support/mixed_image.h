#pragma once
// The image that the scripts of tests/formats/parity and tests/loader/parity also make: neither
// smooth nor random, brighter towards the right.

#include "formats/pixels/image.h"

namespace feedrate::testing {
using namespace formats;

inline Image mixed_image(Shape shape) {
  Image image{shape, {}};
  image.pixels.reserve(shape.bytes());
  for (std::uint32_t y = 0; y < shape.height; ++y) {
    for (std::uint32_t x = 0; x < shape.width; ++x) {
      for (std::uint32_t c = 0; c < shape.channels; ++c) {
        std::uint32_t mixed = x * 2654435761U + y * 2246822519U + c * 3266489917U;
        mixed = (mixed ^ (mixed >> 15)) * 2654435761U;
        image.pixels.push_back(static_cast<std::byte>((mixed >> 25) + x * 128 / shape.width));
      }
    }
  }
  return image;
}

}  // namespace feedrate::testing
