#include "formats/inspect/canvas.h"

#include "formats/base/error.h"

namespace feedrate::formats {

Canvas::Canvas(std::uint32_t height, std::uint32_t width, Colour background)
    : image_{{height, width, 3}, {}} {
  if (!image_.shape.plausible()) throw Error("a picture of that size is too large");
  image_.pixels.resize(image_.shape.bytes());
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x) blend(y, x, background);
  }
}

void Canvas::blend(std::int64_t y, std::int64_t x, Colour colour, std::uint8_t coverage) {
  const auto [height, width, channels] = image_.shape;
  if (y < 0 || y >= height || x < 0 || x >= width) return;
  std::byte* at = image_.pixels.data() + (y * width + x) * channels;
  for (std::size_t c = 0; c < channels; ++c) {
    const unsigned below = std::to_integer<unsigned>(at[c]);
    at[c] = static_cast<std::byte>((colour[c] * coverage + below * (255U - coverage) + 127) / 255);
  }
}

void Canvas::draw_image(std::uint32_t top, std::uint32_t left, const ImageView& image,
                        std::uint32_t scale) {
  const auto [height, width, channels] = image.shape;
  for (std::uint32_t y = 0; y < height * scale; ++y) {
    for (std::uint32_t x = 0; x < width * scale; ++x) {
      const std::size_t pixel = std::size_t{y / scale} * width + x / scale;
      Colour colour;
      for (std::size_t c = 0; c < 3; ++c) {
        const std::size_t channel = channels == 1 ? 0 : c;
        colour[c] = std::to_integer<std::uint8_t>(image.pixels[pixel * channels + channel]);
      }
      blend(top + y, left + x, colour);
    }
  }
}

void Canvas::draw_cross(std::uint32_t top, std::uint32_t left, std::uint32_t side, Colour colour) {
  for (std::uint32_t i = 0; i < side; ++i) {
    for (const auto& [y, x] : {std::pair(0U, i), {side - 1, i}, {i, 0U}, {i, side - 1}, {i, i}}) {
      blend(top + y, left + x, colour);
    }
    blend(top + i, left + side - 1 - i, colour);
  }
}

}  // namespace feedrate::formats
