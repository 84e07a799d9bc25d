#include "formats/inspect/canvas.h"

#include <cassert>

#include "formats/base/error.h"

namespace feedrate::formats {

Canvas::Canvas(std::uint32_t height, std::uint32_t width, Colour background)
    : image_{{height, width, 3}, {}} {
  if (!image_.shape.plausible()) throw Error("a picture of that size is too large");
  image_.pixels.resize(image_.shape.bytes());
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x) set(y, x, background);
  }
}

void Canvas::set(std::uint32_t y, std::uint32_t x, Colour colour) {
  assert(y < image_.shape.height && x < image_.shape.width);
  std::byte* at = image_.pixels.data() + (std::size_t{y} * image_.shape.width + x) * 3;
  for (std::size_t c = 0; c < 3; ++c) at[c] = static_cast<std::byte>(colour[c]);
}

void Canvas::draw_text(std::uint32_t top, std::uint32_t left, std::string_view text,
                       Colour colour) {
  for (const char letter : text) {
    const Glyph& rows = glyph(letter);
    for (std::uint32_t y = 0; y < glyph_height * dot; ++y) {
      for (std::uint32_t x = 0; x < glyph_width * dot; ++x) {
        const unsigned bit = glyph_width - 1 - x / dot;
        if ((rows[y / dot] >> bit & 1) != 0) set(top + y, left + x, colour);
      }
    }
    left += (glyph_width + 1) * dot;
  }
}

void Canvas::draw_image(std::uint32_t top, std::uint32_t left, const ImageView& image) {
  const Shape& shape = image.shape;
  const std::byte* at = image.pixels.data();
  for (std::uint32_t y = 0; y < shape.height; ++y) {
    for (std::uint32_t x = 0; x < shape.width; ++x, at += shape.channels) {
      Colour colour;
      for (std::size_t c = 0; c < 3; ++c) {
        colour[c] = std::to_integer<std::uint8_t>(at[shape.channels == 1 ? 0 : c]);
      }
      set(top + y, left + x, colour);
    }
  }
}

void Canvas::draw_cross(std::uint32_t top, std::uint32_t left, std::uint32_t side, Colour colour) {
  for (std::uint32_t i = 0; i < side; ++i) {
    for (const auto& [y, x] : {std::pair(0U, i), {side - 1, i}, {i, 0U}, {i, side - 1}, {i, i}}) {
      set(top + y, left + x, colour);
    }
    set(top + i, left + side - 1 - i, colour);
  }
}

}  // namespace feedrate::formats
