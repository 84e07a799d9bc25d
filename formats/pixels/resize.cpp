#include "formats/pixels/resize.h"

#include <algorithm>
#include <cassert>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/pixels/resize_passes.h"

namespace feedrate::formats {
namespace {

constexpr std::string_view short_prefix = "short:";
constexpr std::string_view long_prefix = "long:";
constexpr std::uint32_t max_side = 65535;

std::uint32_t parse_side(std::string_view side, std::string_view text) {
  const auto pixels = parse_number<std::uint32_t>(side);
  if (!pixels || *pixels - 1 >= max_side) {
    throw Error(join("cannot resize to '", text,
                     "'; expected short:256, long:256 or 224x160 (width x height), sides of 1 to ",
                     max_side, " pixels"));
  }
  return *pixels;
}

std::uint64_t scaled(std::uint64_t other, std::uint64_t side, std::uint64_t given) {
  return std::max<std::uint64_t>(1, other * side / given);
}

// What is resized, along both axes.
struct Work {
  PixelRows source;
  std::size_t channels;
  const ResizeAxis& across;
  const ResizeAxis& down;

  std::size_t row_bytes() const { return across.span.count * channels; }
  const std::byte* row(std::size_t index) const { return source.first + index * source.stride; }
};

// Rows already resized across. They are made two at a time when needed and kept until overwritten.
class RowRing {
 public:
  RowRing(const Work& work, std::size_t capacity, Buffer& memory)
      : work_(work), capacity_(capacity), rows_(grown(memory, capacity * work.row_bytes())) {}

  // Makes all rows below `end`. Of these the last `capacity` stay available.
  void make_until(std::uint32_t end) {
    while (made_ < end) {
      const std::uint32_t next = std::min(made_ + 1, work_.down.from - 1);
      resize_passes().across(work_.across, work_.channels, {work_.row(made_), work_.row(next)},
                             {row(made_), row(next)});
      made_ = next + 1;
    }
  }

  std::byte* row(std::uint32_t index) {
    return rows_.data() + index % capacity_ * work_.row_bytes();
  }

 private:
  const Work& work_;
  std::size_t capacity_;
  MutableBytes rows_;
  std::uint32_t made_ = 0;
};

void resize_across(const Work& work, MutableBytes pixels) {
  const std::size_t height = work.down.span.count;
  for (std::size_t y = 0; y < height; y += 2) {
    const std::size_t next = std::min(y + 1, height - 1);
    resize_passes().across(
        work.across, work.channels, {work.row(y), work.row(next)},
        {pixels.data() + y * work.row_bytes(), pixels.data() + next * work.row_bytes()});
  }
}

// `row_of(y, index)` returns a source row; it is called for the rows of one target row at a time,
// in order.
template <class RowOf>
void resize_down(const Work& work, MutableBytes pixels, std::vector<const std::byte*>& lines,
                 const RowOf& row_of) {
  const ResizeAxis& down = work.down;
  lines.resize(down.stride);
  for (std::size_t y = 0; y < down.to; ++y) {
    const std::uint32_t count = down.count[y];
    for (std::uint32_t i = 0; i < count; ++i) lines[i] = row_of(y, down.first[y] + i);
    // Passes read rows two or four at a time.
    for (std::uint32_t i = count; i % 4 != 0; ++i) lines[i] = lines[0];
    resize_passes().down(down, y, lines.data(), work.row_bytes(),
                         pixels.data() + y * work.row_bytes());
  }
}

void copy_rows(const Work& work, MutableBytes pixels) {
  for (std::size_t y = 0; y < work.down.span.count; ++y) {
    std::copy_n(work.row(y), work.row_bytes(), pixels.data() + y * work.row_bytes());
  }
}

}  // namespace

std::string Resize::name() const {
  switch (fit) {
    case Fit::short_side:
      return join(short_prefix, width);
    case Fit::long_side:
      return join(long_prefix, width);
    case Fit::exact:
      break;
  }
  return join(width, "x", height);
}

Shape Resize::target(Shape shape) const {
  const Shape result = whole(shape);
  if (result.plausible()) return result;
  throw Error(join("resizing ", shape.height, "x", shape.width, " pixels to ", name(),
                   " would make ", result.height, "x", result.width, ", more than Feedrate holds"));
}

// The sides fit: they are at most the product of two sides, each of 16 bits.
Shape Resize::whole(Shape shape) const {
  assert(shape.plausible());
  std::uint64_t new_width = width, new_height = height;
  if (fit != Fit::exact) {
    const bool by_width = (shape.width <= shape.height) == (fit == Fit::short_side);
    if (by_width) {
      new_height = scaled(shape.height, width, shape.width);
    } else {
      new_width = scaled(shape.width, height, shape.height);
    }
  }
  return {static_cast<std::uint32_t>(new_height), static_cast<std::uint32_t>(new_width),
          shape.channels};
}

Resize parse_resize(std::string_view text) {
  for (const auto& [prefix, fit] : {std::pair{short_prefix, Resize::Fit::short_side},
                                    std::pair{long_prefix, Resize::Fit::long_side}}) {
    if (text.starts_with(prefix)) {
      const std::uint32_t side = parse_side(text.substr(prefix.size()), text);
      return {fit, side, side};
    }
  }
  const std::size_t middle = std::min(text.find('x'), text.size());
  const std::string_view height = text.substr(std::min(middle + 1, text.size()));
  return {Resize::Fit::exact, parse_side(text.substr(0, middle), text), parse_side(height, text)};
}

void resize_part(PixelRows source, std::size_t channels, const ResizeSpan& down,
                 const ResizeSpan& across, MutableBytes pixels, ResizeScratch& scratch) {
  assert(!down.mirrored && pixels.size() == channels * down.count * across.count);
  const Work work{source, channels, scratch.across, scratch.down};
  scratch.across.set(across);
  scratch.down.set(down);
  if (!across.copies()) resize_passes().prepare_across(scratch.across, channels);
  if (!down.copies()) resize_passes().prepare_down(scratch.down);
  if (across.copies() && down.copies()) {
    copy_rows(work, pixels);
  } else if (down.copies()) {
    resize_across(work, pixels);
  } else if (across.copies()) {
    resize_down(work, pixels, scratch.lines,
                [&](std::size_t, std::uint32_t index) { return work.row(index); });
  } else {
    // One row more than a target row needs, because rows are made in pairs.
    RowRing ring(work, scratch.down.max_count + std::size_t{1}, scratch.rows);
    resize_down(work, pixels, scratch.lines, [&](std::size_t y, std::uint32_t index) {
      ring.make_until(scratch.down.first[y] + scratch.down.count[y]);
      return ring.row(index);
    });
  }
}

void resize(const ImageView& image, Shape target, MutableBytes pixels, ResizeScratch& scratch,
            Interpolation interpolation) {
  const Shape source = image.shape;
  assert(source.plausible() && target.plausible() && source.channels == target.channels);
  assert(image.pixels.size() == source.bytes() && pixels.size() == target.bytes());
  const auto span = [interpolation](std::uint32_t from, std::uint32_t to) {
    return ResizeSpan{.from = from, .to = to, .count = to, .interpolation = interpolation};
  };
  resize_part({image.pixels.data(), std::size_t{source.width} * source.channels}, source.channels,
              span(source.height, target.height), span(source.width, target.width), pixels,
              scratch);
}

}  // namespace feedrate::formats
