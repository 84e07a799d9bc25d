// Compiled without fused multiply-add (CMakeLists.txt): the extra precision in the last bit would
// give other weights than Pillow's.

#include "formats/pixels/resize_axis.h"

#include <algorithm>
#include <cmath>

#include "formats/base/bytes.h"

namespace feedrate::formats {
namespace {

// Vector code reads eight weights at a time.
constexpr std::size_t together = 8;

double triangle(double distance) { return std::max(0.0, 1.0 - std::abs(distance)); }

// The order of the operations here decides the last bit; it is Pillow's.
struct Filter {
  explicit Filter(const ResizeSpan& span)
      : scale(static_cast<double>(span.from) / span.to),
        reach(std::max(scale, 1.0)),
        narrowing(1.0 / reach),
        from(span.from) {}

  double center(std::uint32_t target) const { return (target + 0.5) * scale; }
  std::uint32_t first(std::uint32_t target) const {
    return static_cast<std::uint32_t>(std::max(0.0, center(target) - reach + 0.5));
  }
  std::uint32_t end(std::uint32_t target) const {
    return std::min(from, static_cast<std::uint32_t>(center(target) + reach + 0.5));
  }

  double scale;
  double reach;  // of the filter to either side, in source pixels
  double narrowing;
  std::uint32_t from;
};

void weigh(ResizeAxis& axis, std::size_t at, const Filter& filter, std::uint32_t target) {
  const double center = filter.center(target);
  const std::uint32_t first = filter.first(target), end = filter.end(target);
  axis.first[at] = first;
  axis.count[at] = end - first;
  double sum = 0;
  for (std::uint32_t i = first; i < end; ++i) {
    sum += triangle((i - center + 0.5) * filter.narrowing);
  }
  std::int32_t* weights = axis.weights.data() + at * axis.stride;
  for (std::uint32_t i = first; i < end; ++i) {
    const double share = triangle((i - center + 0.5) * filter.narrowing) / sum;
    weights[i - first] = static_cast<std::int32_t>(0.5 + share * (1 << resize_bits));
  }
}

}  // namespace

PixelRange source_of(const ResizeSpan& span) {
  if (span.copies()) return {span.begin, span.count};
  const Filter filter(span);
  const std::uint32_t begin = filter.first(span.begin);
  return {begin, filter.end(span.begin + span.count - 1) - begin};
}

void ResizeAxis::set(const ResizeSpan& new_span) {
  if (span == new_span) return;
  span = new_span;
  const PixelRange source = source_of(span);
  const Filter filter(span);
  from = source.count;
  to = span.count;
  prepared = 0;
  stride = round_up(static_cast<std::size_t>(std::ceil(filter.reach)) * 2 + 1, together);
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
