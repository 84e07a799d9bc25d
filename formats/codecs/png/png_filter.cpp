#include "formats/codecs/png/png_filter.h"

#include <emmintrin.h>

#include <algorithm>
#include <array>

namespace feedrate::formats {
namespace {

constexpr std::size_t lanes = 16;

__m128i load(const std::byte* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

void store(std::byte* to, __m128i value) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), value);
}

__m128i choose(__m128i mask, __m128i yes, __m128i no) {
  return _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no));
}

__m128i at_most(__m128i a, __m128i b) { return _mm_cmpeq_epi8(_mm_min_epu8(a, b), a); }

__m128i average(__m128i left, __m128i above) {  // rounded down; the instruction rounds up
  const __m128i odd = _mm_and_si128(_mm_xor_si128(left, above), _mm_set1_epi8(1));
  return _mm_sub_epi8(_mm_avg_epu8(left, above), odd);
}

// Which of the three is nearest to left + above − corner, computed in 8 bits: the distances of left
// and above are |above − corner| and |left − corner|. The corner's distance is that of the sum of
// the two differences. Where both have the same sign it is no smaller than either, so the corner is
// not chosen; elsewhere it is the difference of the two distances.
__m128i paeth(__m128i left, __m128i above, __m128i corner) {
  const __m128i above_up = _mm_subs_epu8(above, corner), above_down = _mm_subs_epu8(corner, above);
  const __m128i left_up = _mm_subs_epu8(left, corner), left_down = _mm_subs_epu8(corner, left);
  const __m128i of_left = _mm_or_si128(above_up, above_down);
  const __m128i of_above = _mm_or_si128(left_up, left_down);
  const __m128i opposed =
      _mm_or_si128(_mm_min_epu8(above_up, left_down), _mm_min_epu8(above_down, left_up));
  const __m128i same_way = _mm_cmpeq_epi8(opposed, _mm_setzero_si128());
  const __m128i of_corner = _mm_or_si128(
      same_way, _mm_or_si128(_mm_subs_epu8(of_left, of_above), _mm_subs_epu8(of_above, of_left)));
  const __m128i is_left = _mm_and_si128(at_most(of_left, of_above), at_most(of_left, of_corner));
  return choose(is_left, left, choose(at_most(of_above, of_corner), above, corner));
}

enum Filter : unsigned { none, from_left, from_above, from_average, from_paeth };

// Prepares all that does not depend on the left pixel, in 16 bits for each byte, so that little is
// left to do once it is known: waiting for the left pixel is what takes the time.
template <Filter Kind>
struct Unfilter;

template <>
struct Unfilter<from_left> {
  __m128i here;
  Unfilter(__m128i now, __m128i, __m128i) : here(now) {}
  __m128i operator()(__m128i left) const { return _mm_add_epi16(here, left); }
};

template <>
struct Unfilter<from_average> {
  __m128i here, above;
  Unfilter(__m128i now, __m128i up, __m128i) : here(now), above(up) {}
  __m128i operator()(__m128i left) const {
    return _mm_add_epi16(here, _mm_srli_epi16(_mm_add_epi16(left, above), 1));
  }
};

// For a given above and corner, Paeth chooses above in one range of lefts, the corner in the range
// next to it, and left beyond both. With d = above − corner, the two ranges meet at corner − d / 2;
// the corner's ends at corner − 2d, above's at above itself.
template <>
struct Unfilter<from_paeth> {
  __m128i here, with_above, with_corner, above_from, above_to, corner_from, corner_to;

  Unfilter(__m128i now, __m128i above, __m128i corner) : here(now) {
    const __m128i d = _mm_sub_epi16(above, corner);
    const __m128i sign = _mm_srai_epi16(d, 15);  // −1 below zero
    const __m128i half = _mm_srai_epi16(_mm_sub_epi16(d, sign), 1);
    const __m128i middle = _mm_sub_epi16(corner, half);
    const __m128i far = _mm_sub_epi16(corner, _mm_add_epi16(d, d));
    with_above = _mm_add_epi16(now, above);
    with_corner = _mm_add_epi16(now, corner);
    // Both ends are exclusive. `middle` itself belongs to above, on whichever side above lies.
    const __m128i one = _mm_set1_epi16(1);
    above_from = _mm_sub_epi16(_mm_min_epi16(above, middle), _mm_add_epi16(one, sign));
    above_to = _mm_sub_epi16(_mm_max_epi16(above, middle), sign);
    corner_from = _mm_min_epi16(middle, far);
    corner_to = _mm_max_epi16(middle, far);
  }

  __m128i operator()(__m128i left) const {
    const __m128i takes_above =
        _mm_and_si128(_mm_cmpgt_epi16(left, above_from), _mm_cmpgt_epi16(above_to, left));
    const __m128i takes_corner =
        _mm_and_si128(_mm_cmpgt_epi16(left, corner_from), _mm_cmpgt_epi16(corner_to, left));
    const __m128i others = _mm_or_si128(_mm_and_si128(takes_above, with_above),
                                        _mm_and_si128(takes_corner, with_corner));
    const __m128i taken = _mm_or_si128(takes_above, takes_corner);
    return _mm_or_si128(others, _mm_andnot_si128(taken, _mm_add_epi16(here, left)));
  }
};

// Pixel by pixel, since each needs the one before; all bytes of a pixel at once.
template <Filter Kind, std::size_t PixelBytes>
void unfilter_pixels(const std::byte* row, const std::byte* above, std::size_t bytes,
                     std::byte* to) {
  using Pixel = std::conditional_t<PixelBytes == 1, std::uint8_t, std::int32_t>;
  const __m128i zero = _mm_setzero_si128(), low_bytes = _mm_set1_epi16(0xff);
  const auto load_pixel = [&](const std::byte* from) {
    return _mm_unpacklo_epi8(_mm_cvtsi32_si128(load_le<Pixel>(from)), zero);
  };
  __m128i left = zero, corner = zero;
  for (std::size_t at = 0; at < bytes; at += PixelBytes) {
    const __m128i up = load_pixel(above + at);
    left = _mm_and_si128(Unfilter<Kind>(load_pixel(row + at), up, corner)(left), low_bytes);
    corner = up;
    const int pixel = _mm_cvtsi128_si32(_mm_packus_epi16(left, left));
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
__m128i first_lanes(std::size_t count) {
  alignas(16) static constexpr std::array<std::uint8_t, 2 * lanes> ones_then_zeros = [] {
    std::array<std::uint8_t, 2 * lanes> bytes{};
    std::fill_n(bytes.begin(), lanes, std::uint8_t{0xff});
    return bytes;
  }();
  return load(reinterpret_cast<const std::byte*>(ones_then_zeros.data()) + lanes - count);
}

__m128i magnitudes(__m128i bytes) {  // summed into two 64-bit numbers
  const __m128i negated = _mm_sub_epi8(_mm_setzero_si128(), bytes);
  return _mm_sad_epu8(_mm_min_epu8(bytes, negated), _mm_setzero_si128());
}

std::uint64_t total(__m128i sums) {
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(sums)) +
         static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(sums, sums)));
}

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
  __m128i sums[png_filters] = {};
  for (std::size_t at = 0; at < bytes_; at += lanes) {
    const __m128i here = load(row + at), up = load(above + at);
    const __m128i left = load(row + at - pixel_bytes_), corner = load(above + at - pixel_bytes_);
    const __m128i filtered[png_filters] = {here, _mm_sub_epi8(here, left), _mm_sub_epi8(here, up),
                                           _mm_sub_epi8(here, average(left, up)),
                                           _mm_sub_epi8(here, paeth(left, up, corner))};
    const __m128i counted = first_lanes(std::min(lanes, bytes_ - at));
    for (std::size_t i = 0; i < png_filters; ++i) {
      sums[i] = _mm_add_epi64(sums[i], magnitudes(_mm_and_si128(filtered[i], counted)));
      store(candidates_.data() + i * stride_ + 1 + at, filtered[i]);
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
