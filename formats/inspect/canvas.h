#pragma once
// A picture to draw on: images and lines of text.

#include <array>
#include <string_view>

#include "formats/inspect/glyphs.h"
#include "formats/pixels/image.h"

namespace feedrate::formats {

using Colour = std::array<std::uint8_t, 3>;

class Canvas {
 public:
  static constexpr std::uint32_t dot = 2;  // pixels of a letter's dot
  static constexpr std::uint32_t text_height = glyph_height * dot;

  /// Throws Error for a size that no image has.
  Canvas(std::uint32_t height, std::uint32_t width, Colour background);

  /// Of a text without UTF-8 beyond ASCII: see drawable().
  static std::uint32_t text_width(std::string_view text) {
    return static_cast<std::uint32_t>(text.size()) * (glyph_width + 1) * dot;
  }

  /// Everything has to lie within the canvas.
  void draw_text(std::uint32_t top, std::uint32_t left, std::string_view text, Colour colour);
  void draw_image(std::uint32_t top, std::uint32_t left, const ImageView& image);
  /// A square crossed out: an image that cannot be shown.
  void draw_cross(std::uint32_t top, std::uint32_t left, std::uint32_t side, Colour colour);

  Image take() { return std::move(image_); }

 private:
  void set(std::uint32_t y, std::uint32_t x, Colour colour);
  Image image_;
};

}  // namespace feedrate::formats
