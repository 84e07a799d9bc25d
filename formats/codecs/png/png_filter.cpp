#include "formats/codecs/png/png_filter.h"

#include <algorithm>
#include <array>

#include "formats/base/lanes.hpp"

namespace feedrate::formats {
namespace {

Lanes choose(Lanes mask, Lanes yes, Lanes no) { return (mask & yes) | (~mask & no); }

Lanes at_most(Lanes a, Lanes b) { return reinterpret_cast<Lanes>(smaller(a, b) == a); }

// Which of the three is nearest to left + above − corner, computed in 8 bits: the distances of left
// and above are |above − corner| and |left − corner|. The corner's distance is that of the sum of
// the two differences. Where both have the same sign it is no smaller than either, so the corner is
// not chosen; elsewhere it is the difference of the two distances.
Lanes paeth(Lanes left, Lanes above, Lanes corner) {
  const Lanes above_up = minus_down_to_0(above, corner),
              above_down = minus_down_to_0(corner, above);
  const Lanes left_up = minus_down_to_0(left, corner), left_down = minus_down_to_0(corner, left);
  const Lanes of_left = above_up | above_down;
  const Lanes of_above = left_up | left_down;
  const Lanes opposed = smaller(above_up, left_down) | smaller(above_down, left_up);
  const auto same_way = reinterpret_cast<Lanes>(opposed == Lanes{});
  const Lanes of_corner =
      same_way | minus_down_to_0(of_left, of_above) | minus_down_to_0(of_above, of_left);
  const Lanes is_left = at_most(of_left, of_above) & at_most(of_left, of_corner);
  return choose(is_left, left, choose(at_most(of_above, of_corner), above, corner));
}

enum Filter : unsigned { none, from_left, from_above, from_average, from_paeth };

// Prepares all that does not depend on the left pixel, in 16 bits for each byte, so that little is
// left to do once it is known: waiting for the left pixel is what takes the time.
template <Filter Kind>
struct Unfilter;

template <>
struct Unfilter<from_left> {
  WideLanes here;
  Unfilter(WideLanes now, WideLanes, WideLanes) : here(now) {}
  WideLanes operator()(WideLanes left) const { return here + left; }
};

template <>
struct Unfilter<from_average> {
  WideLanes here, above;
  Unfilter(WideLanes now, WideLanes up, WideLanes) : here(now), above(up) {}
  WideLanes operator()(WideLanes left) const { return here + ((left + above) >> 1); }
};

// For a given above and corner, Paeth chooses above in one range of lefts, the corner in the range
// next to it, and left beyond both. With d = above − corner, the two ranges meet at corner − d / 2;
// the corner's ends at corner − 2d, above's at above itself.
template <>
struct Unfilter<from_paeth> {
  WideLanes here, with_above, with_corner, above_from, above_to, corner_from, corner_to;

  Unfilter(WideLanes now, WideLanes above, WideLanes corner) : here(now) {
    const WideLanes d = above - corner;
    const WideLanes sign = d >> 15;  // −1 below zero
    const WideLanes half = (d - sign) >> 1;
    const WideLanes middle = corner - half;
    const WideLanes far = corner - (d + d);
    with_above = now + above;
    with_corner = now + corner;
    // Both ends are exclusive. `middle` itself belongs to above, on whichever side above lies.
    above_from = (above < middle ? above : middle) - (1 + sign);
    above_to = (above > middle ? above : middle) - sign;
    corner_from = middle < far ? middle : far;
    corner_to = middle > far ? middle : far;
  }

  WideLanes operator()(WideLanes left) const {
    const WideLanes takes_above = (left > above_from) & (above_to > left);
    const WideLanes takes_corner = (left > corner_from) & (corner_to > left);
    const WideLanes others = (takes_above & with_above) | (takes_corner & with_corner);
    return others | (~(takes_above | takes_corner) & (here + left));
  }
};

// Pixel by pixel, since each needs the one before; all bytes of a pixel at once.
template <Filter Kind, std::size_t PixelBytes>
void unfilter_pixels(const std::byte* row, const std::byte* above, std::size_t bytes,
                     std::byte* to) {
  using Pixel = std::conditional_t<PixelBytes == 1, std::uint8_t, std::int32_t>;
  const auto load_pixel = [](const std::byte* from) { return widened(load_le<Pixel>(from)); };
  WideLanes left{}, corner{};
  for (std::size_t at = 0; at < bytes; at += PixelBytes) {
    const WideLanes up = load_pixel(above + at);
    left = Unfilter<Kind>(load_pixel(row + at), up, corner)(left) & 255;
    corner = up;
    const std::int32_t pixel = narrowed(left);
    // A fourth byte is overwritten by the next pixel; the last pixel writes only its own bytes.
    std::memcpy(to + at, &pixel, at + sizeof(Pixel) > bytes ? PixelBytes : sizeof(Pixel));
  }
}

template <Filter Kind>
void unfilter_pixels(const std::byte* row, const std::byte* above, std::size_t bytes,
                     std::size_t pixel_bytes, std::byte* to) {
  if (pixel_bytes == 1) {
    unfilter_pixels<Kind, 1>(row, above, bytes, to);
  } else {
    unfilter_pixels<Kind, 3>(row, above, bytes, to);
  }
}

// A mask of 16 bytes whose first `count` are ones, for the end of a row.
Lanes first_lanes(std::size_t count) {
  alignas(16) static constexpr std::array<std::uint8_t, 2 * lanes> ones_then_zeros = [] {
    std::array<std::uint8_t, 2 * lanes> bytes{};
    std::fill_n(bytes.begin(), lanes, std::uint8_t{0xff});
    return bytes;
  }();
  return load_lanes(reinterpret_cast<const std::byte*>(ones_then_zeros.data()) + lanes - count);
}

LaneSums magnitudes(Lanes bytes) { return sums(smaller(bytes, -bytes)); }

std::uint64_t total(LaneSums sums) { return sums[0] + sums[1]; }

}  // namespace

void FilteredRow::set_size(std::size_t bytes, std::size_t pixel_bytes) {
  bytes_ = bytes;
  pixel_bytes_ = pixel_bytes;
  stride_ = round_up(1 + bytes, lanes) + lanes;
  if (candidates_.size() < png_filters * stride_) candidates_.resize(png_filters * stride_);
  for (std::size_t i = 0; i < png_filters; ++i) {
    candidates_[i * stride_] = static_cast<std::byte>(i);
  }
}

Bytes FilteredRow::filter(const std::byte* row, const std::byte* above) {
  LaneSums sums[png_filters] = {};
  for (std::size_t at = 0; at < bytes_; at += lanes) {
    const Lanes here = load_lanes(row + at), up = load_lanes(above + at);
    const Lanes left = load_lanes(row + at - pixel_bytes_);
    const Lanes corner = load_lanes(above + at - pixel_bytes_);
    const Lanes filtered[png_filters] = {here, here - left, here - up, here - average(left, up),
                                         here - paeth(left, up, corner)};
    const Lanes counted = first_lanes(std::min(lanes, bytes_ - at));
    for (std::size_t i = 0; i < png_filters; ++i) {
      sums[i] += magnitudes(filtered[i] & counted);
      store_lanes(candidates_.data() + i * stride_ + 1 + at, filtered[i]);
    }
  }
  std::size_t best = 0;
  for (std::size_t i = 1; i < png_filters; ++i) {
    if (total(sums[i]) < total(sums[best])) best = i;
  }
  return Bytes(candidates_).subspan(best * stride_, 1 + bytes_);
}

bool unfilter_row(const std::byte* row, const std::byte* above, std::size_t bytes,
                  std::size_t pixel_bytes, std::byte* to) {
  const std::byte* filtered = row + 1;
  switch (std::to_integer<unsigned>(*row)) {
    case none:
      std::copy_n(filtered, bytes, to);
      return true;
    case from_left:
      unfilter_pixels<from_left>(filtered, above, bytes, pixel_bytes, to);
      return true;
    case from_above:
      for (std::size_t i = 0; i < bytes; ++i) {
        to[i] = static_cast<std::byte>(std::to_integer<unsigned>(filtered[i]) +
                                       std::to_integer<unsigned>(above[i]));
      }
      return true;
    case from_average:
      unfilter_pixels<from_average>(filtered, above, bytes, pixel_bytes, to);
      return true;
    case from_paeth:
      unfilter_pixels<from_paeth>(filtered, above, bytes, pixel_bytes, to);
      return true;
    default:
      return false;
  }
}

}  // namespace feedrate::formats
