#include "loader/pixels/pixel_scale.h"

#include <algorithm>

#include "formats/base/error.h"

namespace feedrate::loader {
using namespace formats;

std::vector<double> by_channel(std::string_view what, const std::vector<double>& values,
                               std::uint32_t channels) {
  if (values.size() == 1) return std::vector<double>(channels, values[0]);
  if (values.size() == channels && channels <= own_scales) return values;
  throw Error(join(values.size(), " ", what, " for images of ", channels,
                   channels == 1 ? " channel" : " channels",
                   "; give one, or one for each channel"));
}

double scale_of_deviation(double deviation) {
  if (!(static_cast<float>(deviation) > 0))
    throw Error(join("a deviation must be above 0, not ", deviation));
  return 1 / deviation;
}

PixelScales make_scales(const std::vector<double>& means, const std::vector<double>& deviations,
                        std::uint32_t channels) {
  PixelScales scales{};
  const std::size_t own = std::min<std::size_t>(channels, scales.size());
  if (!means.empty()) {
    const std::vector<double> values = by_channel("means", means, channels);
    for (std::size_t c = 0; c < own; ++c) scales[c].mean = static_cast<float>(values[c]);
  }
  if (!deviations.empty()) {
    const std::vector<double> values = by_channel("deviations", deviations, channels);
    for (std::size_t c = 0; c < own; ++c) {
      scales[c].scale = static_cast<float>(scale_of_deviation(values[c]));
    }
  }
  return scales;
}

}  // namespace feedrate::loader
