#pragma once
// JPEGs made for tests, and helpers for their bytes and pixels.

#include <gtest/gtest.h>

#include <algorithm>

#include "formats/codec.h"
#include "formats/codecs/jpeg/jpeg.h"
#include "tests/support/make_jpeg.h"

namespace feedrate::testing {
using namespace formats;

inline Image decoded_by(const Codec& codec, Bytes encoded) {
  Image image{codec.shape(encoded), {}};
  image.pixels.resize(image.shape.bytes());
  codec.decode(encoded, image.shape, image.pixels);
  return image;
}

inline Image decoded(Bytes encoded) { return decoded_by(jpeg_codec, encoded); }

inline int pixel(const Image& image, std::size_t at) {
  return std::to_integer<int>(image.pixels[at]);
}

inline int largest_difference(const Image& a, const Image& b) {
  EXPECT_EQ(a.shape, b.shape);
  int largest = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    largest = std::max(largest, std::abs(pixel(a, i) - pixel(b, i)));
  }
  return largest;
}

// Without make_image's noise, which chroma at half the resolution cannot represent.
inline Image smooth_image(Shape shape) {
  Image image{shape, {}};
  for (std::uint32_t y = 0; y < shape.height; ++y) {
    for (std::uint32_t x = 0; x < shape.width; ++x) {
      for (std::uint32_t c = 0; c < shape.channels; ++c) {
        image.pixels.push_back(static_cast<std::byte>(40 + y + x / 2 + 30 * c));
      }
    }
  }
  return image;
}

inline Buffer jpeg_of(const Image& image, JpegKind kind = {}) {
  if (image.shape.channels == 1) kind.from = kind.stored = JCS_GRAYSCALE;
  return make_jpeg(kind, image.shape.width, image.shape.height, image.pixels);
}

inline Buffer flat(std::initializer_list<unsigned> pixel, std::size_t count) {
  Buffer pixels;
  while (count-- > 0) {
    for (const unsigned sample : pixel) pixels.push_back(static_cast<std::byte>(sample));
  }
  return pixels;
}

// Index of the byte after the first marker with that code.
inline std::size_t behind_marker(const Buffer& encoded, unsigned code) {
  for (std::size_t i = 2; i + 1 < encoded.size(); ++i) {
    if (encoded[i] == std::byte{0xff} && encoded[i + 1] == std::byte(code)) return i + 2;
  }
  ADD_FAILURE() << "no marker " << code;
  return 0;
}

inline void insert(Buffer& encoded, std::size_t at, std::string_view bytes) {
  const Bytes added = as_bytes(bytes);
  encoded.insert(encoded.begin() + static_cast<long>(at), added.begin(), added.end());
}

}  // namespace feedrate::testing
