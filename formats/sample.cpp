#include "formats/sample.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "formats/pixels/planes.h"

namespace feedrate::formats {
namespace {

bool is_planar(const Sample& sample) {
  return sample.codec == &raw_codec && sample.order != PixelOrder::interleaved &&
         sample.shape.channels == 3 && sample.bytes.size() == sample.shape.bytes();
}

// Interleaves `count` pixels of a planar sample, starting at pixel `at`.
void interleave(const Sample& sample, std::size_t at, std::size_t count, std::byte* pixels) {
  const std::size_t plane = sample.bytes.size() / 3;
  const std::byte* first = sample.bytes.data() + at;
  const std::byte* last = first + 2 * plane;
  const bool bgr = sample.order == PixelOrder::planar_bgr;
  plane_interleaver()(bgr ? last : first, first + plane, bgr ? first : last, count, pixels);
}

}  // namespace

std::optional<Box> box_between(Box corners) {
  const auto clamped = [](float one, float other) {
    const auto [least, most] = std::minmax(one, other);
    return std::pair(std::clamp(least, 0.0F, 1.0F), std::clamp(most, 0.0F, 1.0F));
  };
  for (const float side : {corners.xmin, corners.ymin, corners.xmax, corners.ymax}) {
    if (std::isnan(side)) return std::nullopt;
  }
  const auto [left, right] = clamped(corners.xmin, corners.xmax);
  const auto [top, bottom] = clamped(corners.ymin, corners.ymax);
  if (left >= right || top >= bottom) return std::nullopt;
  return Box{left, top, right, bottom};
}

void take_box(Box corners, std::vector<Box>& boxes, std::uint32_t& left_out) {
  const auto is_fraction = [](float side) { return side >= -1 && side <= 2; };
  const bool fractions = is_fraction(corners.xmin) && is_fraction(corners.ymin) &&
                         is_fraction(corners.xmax) && is_fraction(corners.ymax);
  const std::optional<Box> box = fractions ? box_between(corners) : std::nullopt;
  if (box) {
    boxes.push_back(*box);
  } else {
    ++left_out;
  }
}

void decode(const Sample& sample, MutableBytes pixels) {
  assert(sample.codec != nullptr);
  if (is_planar(sample) && pixels.size() == sample.bytes.size()) {
    interleave(sample, 0, pixels.size() / 3, pixels.data());
  } else {
    sample.codec->decode(sample.bytes, sample.shape, pixels);
  }
}

std::string decode_strictly(const Sample& sample, MutableBytes pixels) {
  if (sample.codec != &raw_codec) {
    return sample.codec->decode_strictly(sample.bytes, sample.shape, pixels);
  }
  decode(sample, pixels);
  return {};
}

PixelRows decode_part(const Sample& sample, const Rect& part, Buffer& memory) {
  assert(sample.codec != nullptr);
  if (!is_planar(sample)) {
    return sample.codec->decode_part(sample.bytes, sample.shape, part, memory);
  }
  // Whole rows are interleaved, because together they are one run of pixels.
  const std::size_t width = sample.shape.width;
  const MutableBytes rows = grown(memory, 3 * width * part.height);
  interleave(sample, part.y * width, width * part.height, rows.data());
  return {rows.data() + std::size_t{3} * part.x, 3 * width};
}

}  // namespace feedrate::formats
