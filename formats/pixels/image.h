#pragma once
// Decoded pixels: unsigned 8-bit, interleaved (HWC), grey (1 channel) or RGB (3 channels).

#include <cstdint>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// Size of an image in pixels. All zeros mean "unknown" or "not the same for all".
struct Shape {
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::uint32_t channels = 0;

  /// Bytes of the decoded image. Cannot overflow for shapes that passed `plausible`.
  std::size_t bytes() const { return std::size_t{height} * width * channels; }
  /// A shape that a decoder may allocate: every side 1..65535, 1 or 3 channels, at most 1 GiB.
  bool plausible() const {
    return height - 1U < 65535U && width - 1U < 65535U && (channels == 1 || channels == 3) &&
           bytes() <= (std::size_t{1} << 30);
  }
  bool operator==(const Shape&) const = default;
};

/// A rectangle in an image, in pixels from the top left corner.
struct Rect {
  std::uint32_t y = 0;
  std::uint32_t x = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;

  bool operator==(const Rect&) const = default;
};

/// Rows of pixels in memory owned elsewhere: row i begins at first + i · stride.
struct PixelRows {
  const std::byte* first = nullptr;
  std::size_t stride = 0;
};

/// An image that owns its pixels.
struct Image {
  Shape shape;
  Buffer pixels;  // shape.bytes() of them
};

/// The rows of `part` in an image of that shape whose pixels begin at `pixels`.
inline PixelRows rows_of_part(const std::byte* pixels, Shape shape, const Rect& part) {
  const std::size_t stride = std::size_t{shape.width} * shape.channels;
  return {pixels + part.y * stride + std::size_t{part.x} * shape.channels, stride};
}

/// A view of an image owned elsewhere.
struct ImageView {
  Shape shape;
  Bytes pixels;

  ImageView(Shape s, Bytes p) : shape(s), pixels(p) {}
  ImageView(const Image& image) : shape(image.shape), pixels(image.pixels) {}
};

}  // namespace feedrate::formats
