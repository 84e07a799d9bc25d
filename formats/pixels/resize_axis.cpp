// Compiled without fused multiply-add (CMakeLists.txt): the extra precision in the last bit would
// give other weights than Pillow's.

#include "formats/pixels/resize_axis.h"

#include <algorithm>
#include <cmath>

#include "formats/base/bytes.h"
#include "formats/pixels/resize_filter.h"

namespace feedrate::formats {
namespace {

// Vector code reads eight weights at a time.
constexpr std::size_t together = 8;

void weigh(ResizeAxis& axis, std::size_t at, const ResizeFilter& filter, std::uint32_t target) {
  const std::uint32_t first = filter.first(target);
  axis.first[at] = first;
  axis.count[at] = filter.end(target) - first;
  std::int32_t* weights = axis.weights.data() + at * axis.stride;
  filter.each_weight(target,
                     [&](std::uint32_t i, std::int32_t weight) { weights[i - first] = weight; });
}

}  // namespace

PixelRange source_of(const ResizeSpan& span) {
  if (span.copies()) return {span.begin, span.count};
  const ResizeFilter filter(span);
  const std::uint32_t begin = filter.first(span.begin);
  return {begin, filter.end(span.begin + span.count - 1) - begin};
}

std::size_t max_weights(const ResizeSpan& span) {
  return static_cast<std::size_t>(std::ceil(ResizeFilter(span).reach)) * 2 + 1;
}

void ResizeAxis::set(const ResizeSpan& new_span) {
  if (span == new_span) return;
  span = new_span;
  const PixelRange source = source_of(span);
  const ResizeFilter filter(span);
  from = source.count;
  to = span.count;
  prepared = 0;
  stride = round_up(max_weights(span), together);
  first.resize(to);
  count.resize(to);
  weights.assign(to * stride, 0);
  for (std::uint32_t i = 0; i < to; ++i) {
    weigh(*this, i, filter, span.begin + (span.mirrored ? to - 1 - i : i));
    first[i] -= source.begin;
  }
  max_count = *std::max_element(count.begin(), count.end());
}

}  // namespace feedrate::formats
