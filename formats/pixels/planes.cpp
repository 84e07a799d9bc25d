#include "formats/pixels/planes.h"

#include <vector>

#include "formats/base/processor.h"
#include "formats/pixels/planes_ways.h"

namespace feedrate::formats {

void plainly_interleave_planes(const std::byte* red, const std::byte* green, const std::byte* blue,
                               std::size_t count, std::byte* pixels) {
  for (std::size_t i = 0; i < count; ++i) {
    pixels[3 * i] = red[i];
    pixels[3 * i + 1] = green[i];
    pixels[3 * i + 2] = blue[i];
  }
}

void plainly_separate_planes(const std::byte* pixels, std::size_t count, std::byte* red,
                             std::byte* green, std::byte* blue) {
  for (std::size_t i = 0; i < count; ++i) {
    red[i] = pixels[3 * i];
    green[i] = pixels[3 * i + 1];
    blue[i] = pixels[3 * i + 2];
  }
}

std::span<const InterleavePlanes> runnable_plane_interleavers() {
  static const auto runnable = [] {
    std::vector<InterleavePlanes> all;
    if constexpr (built_for_x86) {
      using enum Instructions;
      if (processor_has({avx512bw, avx512vbmi})) all.push_back(interleave_planes_avx512);
      if (processor_has({avx2})) all.push_back(interleave_planes_avx2);
    }
    all.push_back(plainly_interleave_planes);
    return all;
  }();
  return runnable;
}

std::span<const SeparatePlanes> runnable_plane_separators() {
  static const auto runnable = [] {
    std::vector<SeparatePlanes> all;
    if constexpr (built_for_x86) {
      if (processor_has({Instructions::avx2})) all.push_back(separate_planes_avx2);
    }
    all.push_back(plainly_separate_planes);
    return all;
  }();
  return runnable;
}

}  // namespace feedrate::formats
