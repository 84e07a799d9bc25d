#include "loader/pixels/pixel_rows.h"

#include <algorithm>

#include "formats/base/lanes.hpp"

namespace feedrate::loader {
using namespace formats;

namespace {

// ITU-R 601-2 luma, in Pillow's integers.
std::byte grey_of(const std::byte* pixel) {
  const auto part = [pixel](std::size_t c, unsigned weight) {
    return std::to_integer<unsigned>(pixel[c]) * weight;
  };
  return static_cast<std::byte>((part(0, 19595) + part(1, 38470) + part(2, 7471) + 0x8000) >> 16);
}

template <std::size_t Stored, std::size_t Wanted, bool Mirrored>
void plain(const std::byte* from, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* pixel = from + Stored * (Mirrored ? count - 1 - i : i);
    if constexpr (Stored > Wanted) {
      to[i] = grey_of(pixel);
    } else {
      for (std::size_t c = 0; c < Wanted; ++c) to[Wanted * i + c] = pixel[Stored == 1 ? 0 : c];
    }
  }
}

template <std::size_t Channels>
void copy(const std::byte* from, std::size_t count, std::byte* to) {
  std::copy_n(from, Channels * count, to);
}

// Five pixels at a time, from the end of the row: the last 15 of 16 bytes loaded. The sixteenth
// byte stored is overwritten by the next five pixels.
FEEDRATE_SHUFFLES void mirror_rgb(const std::byte* from, std::size_t count, std::byte* to) {
  std::size_t remaining = count;
  for (; remaining >= 6; remaining -= 5, to += 15) {
    const Lanes last = load_lanes(from + 3 * remaining - lanes);
    store_lanes(to, __builtin_shufflevector(last, last, 13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 1,
                                            2, 3, 0));
  }
  plain<3, 3, true>(from, remaining, to);
}

FEEDRATE_SHUFFLES void spread_grey(const std::byte* from, std::size_t count, std::byte* to) {
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes, to += 3 * lanes) {
    const Lanes grey = load_lanes(from + i);
    store_lanes(
        to, __builtin_shufflevector(grey, grey, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5));
    store_lanes(to + lanes, __builtin_shufflevector(grey, grey, 5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8, 9,
                                                    9, 9, 10, 10));
    store_lanes(to + 2 * lanes, __builtin_shufflevector(grey, grey, 10, 11, 11, 11, 12, 12, 12, 13,
                                                        13, 13, 14, 14, 14, 15, 15, 15));
  }
  plain<1, 3, false>(from + i, count - i, to);
}

}  // namespace

CopyPixels plain_pixel_copier(std::uint32_t stored, std::uint32_t wanted, bool mirrored) {
  if (stored > wanted) return mirrored ? plain<3, 1, true> : plain<3, 1, false>;
  if (stored == 3) return mirrored ? plain<3, 3, true> : plain<3, 3, false>;
  if (wanted == 3) return mirrored ? plain<1, 3, true> : plain<1, 3, false>;
  return mirrored ? plain<1, 1, true> : plain<1, 1, false>;
}

CopyPixels pixel_copier(std::uint32_t stored, std::uint32_t wanted, bool mirrored) {
  if (stored == wanted && !mirrored) return stored == 3 ? copy<3> : copy<1>;
  static const bool vector = has_shuffles();
  if (vector && stored == 3 && wanted == 3) return mirror_rgb;
  if (vector && wanted == 3 && !mirrored) return spread_grey;
  return plain_pixel_copier(stored, wanted, mirrored);
}

}  // namespace feedrate::loader
