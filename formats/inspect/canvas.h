#pragma once
// A picture to draw on. One thread at a time.

#include <array>
#include <cstdint>
#include <utility>

#include "formats/pixels/image.h"

namespace feedrate::formats {

using Colour = std::array<std::uint8_t, 3>;

class Canvas {
 public:
  /// Throws Error for a size that no image has.
  Canvas(std::uint32_t height, std::uint32_t width, Colour background);

  /// Mixes `colour` into a pixel: at a `coverage` of 255 it replaces what was there, at 0 it
  /// changes nothing. Does nothing outside the canvas.
  void blend(std::int64_t y, std::int64_t x, Colour colour, std::uint8_t coverage = 255);
  /// Each pixel becomes a square of `scale` × `scale`. Clipped to the canvas.
  void draw_image(std::uint32_t top, std::uint32_t left, const ImageView& image,
                  std::uint32_t scale);
  /// A square crossed out: an image that cannot be shown.
  void draw_cross(std::uint32_t top, std::uint32_t left, std::uint32_t side, Colour colour);

  Image take() { return std::move(image_); }

 private:
  Image image_;
};

}  // namespace feedrate::formats
