#pragma once
// JPEG on single values, as libjpeg-turbo computes it on x86-64: the inverse cosine transform
// (ISLOW), smooth upsampling and colours. Integers only, for host and device.

#include <cstdint>

#include "formats/codecs/jpeg/jpeg_inks.h"

namespace feedrate::trainer::cuda {

constexpr int clamped(int value, int low, int high) {
  return value < low ? low : value > high ? high : value;
}
constexpr int clamped_pixel(int value) { return clamped(value, 0, 255); }

/// The low 16 bits, as vector instructions keep them.
constexpr std::int16_t wrapped(int value) { return static_cast<std::int16_t>(value); }
constexpr std::int16_t saturated(int value) {
  return static_cast<std::int16_t>(clamped(value, -32768, 32767));
}

struct EightCoefficients {
  std::int16_t values[8];
};
struct EightSums {
  std::int32_t values[8];
};

inline constexpr int islow_bits = 13;  // of its constants
inline constexpr int pass_bits = 2;    // that the first pass keeps behind the point

/// A pass of the transform over a column or a row, in units of 2^-islow_bits. The order and width
/// of the operations are those of libjpeg-turbo's vector code, which decides what happens to
/// coefficients that no encoder writes.
constexpr EightSums islow(const EightCoefficients& from) {
  const auto& in = from.values;
  // The constants are those of jidctint.c, times 2^13.
  const int even2 = in[2] * 4433 + in[6] * (4433 - 15137);
  const int even3 = in[2] * (4433 + 6270) + in[6] * 4433;
  const int even0 = wrapped(in[0] + in[4]) * (1 << islow_bits);
  const int even1 = wrapped(in[0] - in[4]) * (1 << islow_bits);
  const int sum0 = even0 + even3, sum3 = even0 - even3;
  const int sum1 = even1 + even2, sum2 = even1 - even2;

  const int z3 = wrapped(in[7] + in[3]), z4 = wrapped(in[5] + in[1]);
  const int both3 = z3 * (9633 - 16069) + z4 * 9633;
  const int both4 = z3 * 9633 + z4 * (9633 - 3196);
  const int odd0 = in[7] * (2446 - 7373) + in[1] * -7373 + both3;
  const int odd1 = in[5] * (16819 - 20995) + in[3] * -20995 + both4;
  const int odd2 = in[5] * -20995 + in[3] * (25172 - 20995) + both3;
  const int odd3 = in[7] * -7373 + in[1] * (12299 - 7373) + both4;
  return {{sum0 + odd3, sum1 + odd2, sum2 + odd1, sum3 + odd0, sum3 - odd0, sum2 - odd1,
           sum1 - odd2, sum0 - odd3}};
}

constexpr int rounded_shift(int value, int bits) { return (value + (1 << (bits - 1))) >> bits; }

/// The first pass, over a column.
constexpr EightCoefficients islow_column(const EightCoefficients& column) {
  const EightSums sums = islow(column);
  EightCoefficients result{};
  for (int i = 0; i < 8; ++i) {
    result.values[i] = saturated(rounded_shift(sums.values[i], islow_bits - pass_bits));
  }
  return result;
}

/// The same where all rows but the first are zeros in all columns of the block: libjpeg-turbo's
/// shortcut does not saturate.
constexpr EightCoefficients islow_flat_column(std::int16_t mean) {
  EightCoefficients result{};
  for (std::int16_t& value : result.values) value = wrapped(mean * (1 << pass_bits));
  return result;
}

/// The second pass, over a row: samples, the first one in the lowest byte.
constexpr std::uint64_t islow_row(const EightCoefficients& row) {
  const EightSums sums = islow(row);
  std::uint64_t samples = 0;
  for (int i = 0; i < 8; ++i) {
    const int value = rounded_shift(sums.values[i], islow_bits + pass_bits + 3);
    samples |= static_cast<std::uint64_t>(clamped(value, -128, 127) + 128) << (8 * i);
  }
  return samples;
}

// Smooth upsampling: three parts of the nearer sample and one of the other. What is halfway is
// rounded up and down in turns, from pixel to pixel.

/// By two in one direction; `later`: the second of the two pixels of a sample.
constexpr int smooth(int nearer, int other, bool later) {
  return (3 * nearer + other + (later ? 2 : 1)) >> 2;
}
/// A sample between two rows, times 4.
constexpr int between_rows(int nearer, int other) { return 3 * nearer + other; }
/// By two in both directions, of two samples between rows.
constexpr int smooth_both(int nearer, int other, bool later) {
  return (3 * nearer + other + (later ? 7 : 8)) >> 4;
}

struct Rgb {
  int red, green, blue;
};

/// Without the limits of a pixel. The constants are those of jdcolor.c, times 2^16.
constexpr Rgb unlimited_rgb(int y, int cb, int cr) {
  cb -= 128;
  cr -= 128;
  return {y + rounded_shift(91881 * cr, 16), y + rounded_shift(-22554 * cb - 46802 * cr, 16),
          y + rounded_shift(116130 * cb, 16)};
}
constexpr Rgb rgb_of_ycc(int y, int cb, int cr) {
  const Rgb rgb = unlimited_rgb(y, cb, cr);
  return {clamped_pixel(rgb.red), clamped_pixel(rgb.green), clamped_pixel(rgb.blue)};
}

/// Of the inverses of inks, as files store them.
constexpr Rgb rgb_of_inks(const Rgb& inks, int key) {
  const auto shown = [&](int ink) {
    return static_cast<int>(
        formats::ink_product(static_cast<unsigned>(ink), static_cast<unsigned>(key)));
  };
  return {shown(inks.red), shown(inks.green), shown(inks.blue)};
}
constexpr Rgb rgb_of_ycck(int y, int cb, int cr, int key) {
  const Rgb rgb = unlimited_rgb(y, cb, cr);
  return rgb_of_inks(
      {clamped_pixel(255 - rgb.red), clamped_pixel(255 - rgb.green), clamped_pixel(255 - rgb.blue)},
      key);
}

}  // namespace feedrate::trainer::cuda
