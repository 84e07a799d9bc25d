// Compiled without fused multiply-add (CMakeLists.txt): a last bit more of precision would be
// another weight than Pillow's.

#include "formats/resize_axis.h"

#include <algorithm>
#include <cmath>

namespace feedrate {
namespace {

// Vector code reads weights by eights.
constexpr std::size_t together = 8;

double triangle(double distance) { return std::max(0.0, 1.0 - std::abs(distance)); }

// The order of these operations decides the last bit; it is Pillow's.
void weigh(ResizeAxis& axis, std::uint32_t target, double scale, double reach) {
  const double center = (target + 0.5) * scale;
  const double narrowing = 1.0 / reach;
  const auto first = static_cast<std::uint32_t>(std::max(0.0, center - reach + 0.5));
  const auto end = std::min(axis.from, static_cast<std::uint32_t>(center + reach + 0.5));
  axis.first[target] = first;
  axis.count[target] = end - first;
  double sum = 0;
  for (std::uint32_t i = first; i < end; ++i) sum += triangle((i - center + 0.5) * narrowing);
  const std::size_t at = target * axis.stride;
  for (std::uint32_t i = first; i < end; ++i) {
    const double share = triangle((i - center + 0.5) * narrowing) / sum;
    const auto weight = static_cast<std::int32_t>(0.5 + share * (1 << resize_bits));
    axis.weights[at + i - first] = weight;
    axis.low[at + i - first] = static_cast<std::int16_t>(weight & ((1 << resize_low_bits) - 1));
    axis.high[at + i - first] = static_cast<std::int16_t>(weight >> resize_low_bits);
  }
}

}  // namespace

void ResizeAxis::set(std::uint32_t new_from, std::uint32_t new_to) {
  if (from == new_from && to == new_to) return;
  from = new_from;
  to = new_to;
  const double scale = static_cast<double>(from) / to;
  const double reach = std::max(scale, 1.0);  // of the filter, to either side
  stride = static_cast<std::size_t>(std::ceil(reach)) * 2 + 1;
  stride = (stride + together - 1) / together * together;
  first.resize(to);
  count.resize(to);
  weights.assign(to * stride, 0);
  low.assign(to * stride, 0);
  high.assign(to * stride, 0);
  for (std::uint32_t target = 0; target < to; ++target) weigh(*this, target, scale, reach);
  most = *std::max_element(count.begin(), count.end());
}

}  // namespace feedrate
