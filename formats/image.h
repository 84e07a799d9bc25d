#pragma once
// Decoded pixels: unsigned 8-bit, interleaved (HWC), grey (1 channel) or RGB (3 channels).

#include <cstdint>

#include "formats/bytes.h"

namespace feedrate {

/// Size of an image in pixels. All zero means "not known" or "not the same for all".
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

/// An image that owns its pixels.
struct Image {
  Shape shape;
  Buffer pixels;  // shape.bytes() of them
};

/// An image that belongs to someone else.
struct ImageView {
  Shape shape;
  Bytes pixels;

  ImageView(Shape s, Bytes p) : shape(s), pixels(p) {}
  ImageView(const Image& image) : shape(image.shape), pixels(image.pixels) {}
};

}  // namespace feedrate
