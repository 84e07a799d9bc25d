#include "formats/sample.h"

#include <cassert>

namespace feedrate {
namespace {

// Three planes side by side → one interleaved image.
void interleave(const std::byte* red, const std::byte* green, const std::byte* blue,
                std::size_t count, std::byte* pixels) {
  for (std::size_t i = 0; i < count; ++i) {
    pixels[3 * i] = red[i];
    pixels[3 * i + 1] = green[i];
    pixels[3 * i + 2] = blue[i];
  }
}

}  // namespace

void decode(const Sample& sample, MutableBytes pixels) {
  assert(sample.codec != nullptr);
  const bool planar = sample.codec == &raw_codec && sample.order != PixelOrder::interleaved &&
                      sample.shape.channels == 3 && sample.bytes.size() == sample.shape.bytes() &&
                      pixels.size() == sample.bytes.size();
  if (!planar) {
    sample.codec->decode(sample.bytes, sample.shape, pixels);
    return;
  }
  const std::size_t plane = pixels.size() / 3;
  const std::byte* first = sample.bytes.data();
  const std::byte* last = first + 2 * plane;
  const bool bgr = sample.order == PixelOrder::planar_bgr;
  interleave(bgr ? last : first, first + plane, bgr ? first : last, plane, pixels.data());
}

}  // namespace feedrate
