#include "formats/resize.h"

#include <algorithm>
#include <cassert>

#include "formats/error.h"
#include "formats/resize_passes.h"
#include "formats/text.h"

namespace feedrate {
namespace {

constexpr std::string_view short_prefix = "short:";
constexpr std::string_view long_prefix = "long:";
constexpr std::uint32_t most_side = 65535;

std::uint32_t parse_side(std::string_view side, std::string_view text) {
  const auto pixels = parse_number<std::uint32_t>(side);
  if (!pixels || *pixels - 1 >= most_side) {
    throw Error(join("cannot resize to '", text,
                     "'; expected short:256, long:256 or 224x160 (width x height), sides of 1 to ",
                     most_side, " pixels"));
  }
  return *pixels;
}

std::uint64_t scaled(std::uint64_t other, std::uint64_t side, std::uint64_t given) {
  return std::max<std::uint64_t>(1, other * side / given);
}

// Rows of the target's width, made two by two as they are needed and kept as long.
class RowRing {
 public:
  RowRing(const ImageView& image, const ResizeAxis& across, std::size_t capacity, Buffer& memory)
      : image_(image),
        across_(across),
        channels_(image.shape.channels),
        capacity_(capacity),
        memory_(memory) {
    if (memory.size() < capacity * row_bytes()) memory.resize(capacity * row_bytes());
  }

  // Rows below `end` are there from now on, and still those that are at most `capacity` above.
  void make_until(std::uint32_t end) {
    while (made_ < end) {
      const std::uint32_t next = std::min(made_ + 1, image_.shape.height - 1);
      resize_passes().across(across_, channels_, {source(made_), source(next)},
                             {row(made_), row(next)});
      made_ = next + 1;
    }
  }

  std::byte* row(std::uint32_t index) { return memory_.data() + index % capacity_ * row_bytes(); }

 private:
  std::size_t row_bytes() const { return across_.to * channels_; }
  const std::byte* source(std::uint32_t index) const {
    return image_.pixels.data() + index * (across_.from * channels_);
  }

  const ImageView& image_;
  const ResizeAxis& across_;
  std::size_t channels_;
  std::size_t capacity_;
  Buffer& memory_;
  std::uint32_t made_ = 0;
};

void resize_across(const ImageView& image, MutableBytes pixels, const ResizeAxis& across) {
  const std::size_t channels = image.shape.channels;
  const std::size_t from = across.from * channels, to = across.to * channels;
  for (std::size_t y = 0; y < image.shape.height; y += 2) {
    const std::size_t next = std::min<std::size_t>(y + 1, image.shape.height - 1);
    resize_passes().across(across, channels,
                           {image.pixels.data() + y * from, image.pixels.data() + next * from},
                           {pixels.data() + y * to, pixels.data() + next * to});
  }
}

// `row_of(index)` gives a source row; it is asked for those of one target row, from the first on.
template <class RowOf>
void resize_down(std::size_t row_bytes, MutableBytes pixels, ResizeScratch& scratch,
                 const RowOf& row_of) {
  const ResizeAxis& down = scratch.down;
  scratch.lines.resize(down.stride);
  for (std::size_t y = 0; y < down.to; ++y) {
    const std::uint32_t count = down.count[y];
    for (std::uint32_t i = 0; i < count; ++i) scratch.lines[i] = row_of(y, down.first[y] + i);
    if (count % 2 != 0) scratch.lines[count] = scratch.lines[0];  // rows are taken in pairs
    resize_passes().down(down, y, scratch.lines.data(), row_bytes, pixels.data() + y * row_bytes);
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
  const auto as_side = [](std::uint64_t side) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(side, most_side + 1));
  };
  const Shape result{as_side(new_height), as_side(new_width), shape.channels};
  if (!result.plausible()) {
    throw Error(join("resizing ", shape.height, "x", shape.width, " pixels to ", name(),
                     " would make ", new_height, "x", new_width, ", more than Feedrate holds"));
  }
  return result;
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

void resize(const ImageView& image, Shape target, MutableBytes pixels, ResizeScratch& scratch) {
  const Shape source = image.shape;
  assert(source.plausible() && target.plausible() && source.channels == target.channels);
  assert(image.pixels.size() == source.bytes() && pixels.size() == target.bytes());
  const std::size_t row_bytes = std::size_t{target.width} * target.channels;
  if (source == target) {
    std::copy(image.pixels.begin(), image.pixels.end(), pixels.begin());
    return;
  }
  if (source.width != target.width) scratch.across.set(source.width, target.width);
  if (source.height != target.height) scratch.down.set(source.height, target.height);
  if (source.height == target.height) {
    resize_across(image, pixels, scratch.across);
  } else if (source.width == target.width) {
    resize_down(row_bytes, pixels, scratch, [&](std::size_t, std::uint32_t index) {
      return image.pixels.data() + index * row_bytes;
    });
  } else {
    // One more than a target row needs, because rows are made in pairs.
    RowRing ring(image, scratch.across, scratch.down.most + std::size_t{1}, scratch.rows);
    resize_down(row_bytes, pixels, scratch, [&](std::size_t y, std::uint32_t index) {
      ring.make_until(scratch.down.first[y] + scratch.down.count[y]);
      return ring.row(index);
    });
  }
}

}  // namespace feedrate
