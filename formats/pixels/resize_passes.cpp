#include "formats/pixels/resize_passes.h"

#include <algorithm>

#include "formats/base/processor.h"

namespace feedrate::formats {
namespace {

std::byte rounded(std::int32_t sum) { return std::byte{resized_pixel(sum)}; }

template <std::size_t Channels>
void across_one(const ResizeAxis& axis, const std::byte* from, std::byte* to) {
  for (std::size_t x = 0; x < axis.to; ++x) {
    const std::byte* pixel = from + Channels * axis.first[x];
    const std::int32_t* weights = axis.weights.data() + x * axis.stride;
    std::array<std::int32_t, Channels> sums{};
    for (std::size_t i = 0; i < axis.count[x]; ++i) {
      for (std::size_t c = 0; c < Channels; ++c) {
        sums[c] += std::to_integer<std::int32_t>(pixel[Channels * i + c]) * weights[i];
      }
    }
    for (std::size_t c = 0; c < Channels; ++c) to[Channels * x + c] = rounded(sums[c]);
  }
}

void across(const ResizeAxis& axis, std::size_t channels, std::array<const std::byte*, 2> from,
            std::array<std::byte*, 2> to) {
  for (std::size_t i = 0; i < (to[0] == to[1] ? 1 : 2); ++i) {
    if (channels == 1) {
      across_one<1>(axis, from[i], to[i]);
    } else {
      across_one<3>(axis, from[i], to[i]);
    }
  }
}

void down(const ResizeAxis& axis, std::size_t target, const std::byte* const* rows,
          std::size_t bytes, std::byte* to) {
  constexpr std::size_t together = 64;
  const std::int32_t* weights = axis.weights.data() + target * axis.stride;
  for (std::size_t begin = 0; begin < bytes; begin += together) {
    const std::size_t size = std::min(together, bytes - begin);
    std::array<std::int32_t, together> sums{};
    for (std::size_t i = 0; i < axis.count[target]; ++i) {
      for (std::size_t k = 0; k < size; ++k) {
        sums[k] += std::to_integer<std::int32_t>(rows[i][begin + k]) * weights[i];
      }
    }
    for (std::size_t k = 0; k < size; ++k) to[begin + k] = rounded(sums[k]);
  }
}

void prepare_across(ResizeAxis&, std::size_t) {}
void prepare_down(ResizeAxis&) {}

}  // namespace

const ResizePasses plain_resize_passes = {"plain", prepare_across, prepare_down, across, down};

std::span<const ResizePasses* const> runnable_resize_passes() {
  static const auto runnable = [] {
    std::vector<const ResizePasses*> passes;
    if constexpr (built_for_x86) {
      using enum Instructions;
      if (processor_has({avx2, avx512bw, avx512vbmi, avx512vnni})) {
        passes.push_back(&avx512_resize_passes);
      }
      if (processor_has({avx2})) passes.push_back(&avx2_resize_passes);
    }
    passes.push_back(&lanes_resize_passes);
    passes.push_back(&plain_resize_passes);
    return passes;
  }();
  return runnable;
}

}  // namespace feedrate::formats
