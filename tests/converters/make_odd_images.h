#pragma once
// The unusual images of ImageNet that trip up tools, one of each kind.

#include <string_view>

#include "formats/codec.h"
#include "tests/support/make_jpeg.h"

namespace feedrate::testing {
using namespace formats;

enum class Odd { grey, cmyk, turned, png };

/// CMYK as Adobe stores it, inverted. Without black, so C, M and Y are R, G and B.
inline Buffer inks_of(const Image& rgb) {
  Buffer inks;
  for (std::size_t i = 0; i < rgb.pixels.size(); ++i) {
    inks.push_back(rgb.pixels[i]);
    if (i % 3 == 2) inks.push_back(std::byte{255});
  }
  return inks;
}

/// An RGB image file that may have the name of a JPEG. `turned` has an EXIF block with
/// Orientation = 6.
inline Buffer odd_image(Odd kind, const Image& rgb) {
  using namespace std::string_view_literals;
  const auto [height, width, channels] = rgb.shape;
  Buffer encoded;
  switch (kind) {
    case Odd::grey:
      return make_jpeg({.from = JCS_RGB, .stored = JCS_GRAYSCALE}, width, height, rgb.pixels);
    case Odd::cmyk:
      return make_jpeg({.from = JCS_CMYK, .stored = JCS_CMYK, .quality = 95}, width, height,
                       inks_of(rgb));
    case Odd::png:
      png_codec.encode(rgb, encoded);
      return encoded;
    case Odd::turned: {
      jpeg_codec.encode(rgb, encoded);
      const Bytes exif = as_bytes(
          "\xff\xe1\0\x22"
          "Exif\0\0II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"sv);
      encoded.insert(encoded.begin() + 2, exif.begin(), exif.end());
    }
  }
  return encoded;
}

}  // namespace feedrate::testing
