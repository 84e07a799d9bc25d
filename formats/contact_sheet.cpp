#include "formats/contact_sheet.h"

#include <algorithm>
#include <array>

#include "formats/error.h"

namespace feedrate {
namespace {

constexpr std::uint32_t largest_side = 128;  // images beyond are shrunk
constexpr std::uint32_t wanted_side = 96;  // smaller ones are enlarged by whole factors up to this
constexpr std::uint32_t padding = 10;      // around every cell
constexpr std::uint32_t label_gap = 6;     // between an image and its label
constexpr std::uint32_t glyph_width = 5, glyph_height = 7, glyph_scale = 2;
constexpr std::uint32_t glyph_step = (glyph_width + 1) * glyph_scale;

using Color = std::array<std::uint8_t, 3>;
constexpr Color background = {30, 31, 34};
constexpr Color ink = {214, 216, 220};

// Digits and a minus, row by row, five bits each.
using Glyph = std::array<std::uint8_t, glyph_height>;
constexpr std::array<Glyph, 11> glyphs = {{
    {0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110},
    {0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110},
    {0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111},
    {0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110},
    {0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010},
    {0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110},
    {0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110},
    {0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000},
    {0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110},
    {0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100},
    {0b00000, 0b00000, 0b00000, 0b11111, 0b00000, 0b00000, 0b00000},
}};

class Canvas {
 public:
  Canvas(std::uint32_t height, std::uint32_t width) : image_{{height, width, 3}, {}} {
    if (!image_.shape.plausible()) throw Error("a contact sheet of that many samples is too large");
    image_.pixels.resize(image_.shape.bytes());
    for (std::uint32_t y = 0; y < height; ++y) {
      for (std::uint32_t x = 0; x < width; ++x) set(y, x, background);
    }
  }

  void set(std::uint32_t y, std::uint32_t x, Color color) {
    std::byte* at = image_.pixels.data() + (std::size_t{y} * image_.shape.width + x) * 3;
    for (std::size_t c = 0; c < 3; ++c) at[c] = static_cast<std::byte>(color[c]);
  }

  void draw_text(std::uint32_t top, std::uint32_t left, std::string_view text) {
    for (const char letter : text) {
      const Glyph& glyph = glyphs[letter == '-' ? 10 : static_cast<std::size_t>(letter - '0')];
      for (std::uint32_t y = 0; y < glyph_height * glyph_scale; ++y) {
        for (std::uint32_t x = 0; x < glyph_width * glyph_scale; ++x) {
          const unsigned bit = glyph_width - 1 - x / glyph_scale;
          if ((glyph[y / glyph_scale] >> bit & 1) != 0) set(top + y, left + x, ink);
        }
      }
      left += glyph_step;
    }
  }

  void draw_image(std::uint32_t top, std::uint32_t left, const Image& image) {
    const Shape& shape = image.shape;
    for (std::uint32_t y = 0; y < shape.height; ++y) {
      for (std::uint32_t x = 0; x < shape.width; ++x) {
        const std::byte* at =
            image.pixels.data() + (std::size_t{y} * shape.width + x) * shape.channels;
        Color color;
        for (std::size_t c = 0; c < 3; ++c) {
          color[c] = std::to_integer<std::uint8_t>(at[shape.channels == 1 ? 0 : c]);
        }
        set(top + y, left + x, color);
      }
    }
  }

  Image take() { return std::move(image_); }

 private:
  Image image_;
};

struct Cell {
  Image image;
  std::string label;
  std::uint32_t text_width() const {
    return static_cast<std::uint32_t>(label.size()) * glyph_step - glyph_scale;
  }
};

// Every pixel of the result is the mean of the pixels it stands for: a box filter, which repeats
// pixels when the size grows by a whole factor.
Image resized(const Image& from, std::uint32_t height, std::uint32_t width) {
  const Shape& old = from.shape;
  Image to{{height, width, old.channels}, {}};
  to.pixels.reserve(to.shape.bytes());
  const auto begin_of = [](std::uint64_t i, std::uint32_t before, std::uint32_t after) {
    return static_cast<std::uint32_t>(i * before / after);
  };
  for (std::uint32_t y = 0; y < height; ++y) {
    const std::uint32_t top = begin_of(y, old.height, height);
    const std::uint32_t bottom = std::max(top + 1, begin_of(y + 1ULL, old.height, height));
    for (std::uint32_t x = 0; x < width; ++x) {
      const std::uint32_t left = begin_of(x, old.width, width);
      const std::uint32_t right = std::max(left + 1, begin_of(x + 1ULL, old.width, width));
      for (std::uint32_t c = 0; c < old.channels; ++c) {
        std::uint64_t sum = 0;
        for (std::uint32_t v = top; v < bottom; ++v) {
          for (std::uint32_t u = left; u < right; ++u) {
            const std::size_t at = (std::size_t{v} * old.width + u) * old.channels + c;
            sum += std::to_integer<std::uint64_t>(from.pixels[at]);
          }
        }
        const std::uint64_t count = std::uint64_t{bottom - top} * (right - left);
        to.pixels.push_back(static_cast<std::byte>((sum + count / 2) / count));
      }
    }
  }
  return to;
}

Image at_viewing_size(Image image) {
  const auto [height, width, channels] = image.shape;
  const std::uint32_t side = std::max(height, width);
  if (side > largest_side) {
    const auto scaled = [&](std::uint32_t length) {
      return std::max(1U, static_cast<std::uint32_t>(std::uint64_t{length} * largest_side / side));
    };
    return resized(image, scaled(height), scaled(width));
  }
  const std::uint32_t factor = wanted_side / side;
  if (factor > 1) return resized(image, height * factor, width * factor);
  return image;
}

Cell read_cell(const Dataset& dataset, std::uint64_t index, Scratch& scratch) {
  const Sample sample = dataset.read(index, scratch);
  Image image{sample.shape, Buffer(sample.shape.bytes())};
  decode(sample, image.pixels);
  return {at_viewing_size(std::move(image)), std::to_string(sample.label)};
}

}  // namespace

Image contact_sheet(const Dataset& dataset, std::uint64_t count, unsigned columns) {
  std::vector<Cell> cells;
  Scratch scratch;
  for (std::uint64_t i = 0; i < std::min(count, dataset.size()); ++i) {
    cells.push_back(read_cell(dataset, i, scratch));
  }
  std::uint32_t height = 0, width = 0;
  for (const Cell& cell : cells) {
    height = std::max(height, cell.image.shape.height);
    width = std::max({width, cell.image.shape.width, cell.text_width()});
  }
  const auto total = static_cast<std::uint32_t>(cells.size());
  const std::uint32_t across = std::clamp(columns, 1U, std::max(total, 1U));
  const std::uint32_t down = (total + across - 1) / across;
  const std::uint32_t step_y = height + label_gap + glyph_height * glyph_scale + 2 * padding;
  const std::uint32_t step_x = width + 2 * padding;
  Canvas canvas(std::max(1U, down) * step_y, across * step_x);
  for (std::uint32_t i = 0; i < total; ++i) {
    const Cell& cell = cells[i];
    const std::uint32_t top = i / across * step_y + padding;
    const std::uint32_t left = i % across * step_x + padding;
    canvas.draw_image(top + (height - cell.image.shape.height) / 2,
                      left + (width - cell.image.shape.width) / 2, cell.image);
    canvas.draw_text(top + height + label_gap, left + (width - cell.text_width()) / 2, cell.label);
  }
  return canvas.take();
}

}  // namespace feedrate
