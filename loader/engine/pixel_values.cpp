#include "loader/engine/pixel_values.h"

#include <vector>

#include "formats/base/processor.h"
#include "formats/pixels/planes.h"
#include "loader/engine/pixel_values_ways.h"

namespace feedrate::loader {
using namespace formats;

namespace {

template <class Number, std::size_t Channels, PixelLayout Layout>
void plain(const std::byte* pixels, std::size_t count, const PixelFormula& formula, std::byte* to) {
  plain_from<Number, Channels, Layout>(0, pixels, count, formula, to);
}

template <class Number, std::size_t Channels, PixelLayout Layout>
std::span<const PixelsToValues> runnable() {
  static const auto all = [] {
    std::vector<PixelsToValues> found;
    if constexpr (built_for_x86) {
      using enum Instructions;
      const PixelsToValues fast[] = {
          processor_has({avx2, f16c, avx512bw, avx512vl})
              ? values_by_avx512<Number>(Channels, Layout)
              : nullptr,
          processor_has({avx2, f16c}) ? values_by_avx2<Number>(Channels, Layout) : nullptr};
      for (const PixelsToValues way : fast) {
        if (way != nullptr) found.push_back(way);
      }
    }
    found.push_back(values_by_blocks<Number>(Channels, Layout));
    found.push_back(plain<Number, Channels, Layout>);
    return found;
  }();
  return all;
}

template <class Number>
std::span<const PixelsToValues> runnable(std::uint32_t channels, PixelLayout layout) {
  if (channels != 3) return runnable<Number, 1, PixelLayout::planar>();
  return layout == PixelLayout::planar ? runnable<Number, 3, PixelLayout::planar>()
                                       : runnable<Number, 3, PixelLayout::interleaved>();
}

void separate(const std::byte* pixels, std::size_t count, const PixelFormula&, std::byte* to) {
  plane_separator()(pixels, count, to, to + count, to + 2 * count);
}

}  // namespace

std::span<const PixelsToValues> runnable_value_makers(std::uint32_t channels, PixelType type,
                                                      PixelLayout layout) {
  if (type == PixelType::f32) return runnable<float>(channels, layout);
  if (type == PixelType::f16) return runnable<Half>(channels, layout);
  static constexpr PixelsToValues planes = separate;
  return {&planes, 1};
}

}  // namespace feedrate::loader
