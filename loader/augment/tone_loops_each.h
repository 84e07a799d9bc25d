#pragma once
// The loops of tone_loops.h, each written once, in a way that compilers turn into vector instructions:
// without tables and calls, and whatever is chosen was computed before. Included once for each set of
// instructions.

#include <algorithm>

#include "loader/augment/tone_loops.h"

// What is inlined into a function is compiled for its instructions.
#define FEEDRATE_LOOP [[gnu::always_inline]] inline

namespace feedrate::loader {
namespace {

// ITU-R 601-2 luma, as Pillow rounds it.
FEEDRATE_LOOP int luma(int red, int green, int blue) {
  return (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16;
}

FEEDRATE_LOOP void blend_loop(std::span<std::uint8_t> values, std::uint8_t from, float factor) {
  std::uint8_t* const all = values.data();
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) all[i] = blend(from, all[i], factor);
}

FEEDRATE_LOOP int luma_loop(const ColourPlanes& pixels) {
  const std::size_t count = pixels.count;
  int sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    sum += luma(pixels.red[i], pixels.green[i], pixels.blue[i]);
  return sum;
}

FEEDRATE_LOOP void saturate_loop(const ColourPlanes& pixels, float factor) {
  std::uint8_t* __restrict red = pixels.red;
  std::uint8_t* __restrict green = pixels.green;
  std::uint8_t* __restrict blue = pixels.blue;
  const std::size_t count = pixels.count;
  for (std::size_t i = 0; i < count; ++i) {
    const auto grey = static_cast<std::uint8_t>(luma(red[i], green[i], blue[i]));
    red[i] = blend(grey, red[i], factor);
    green[i] = blend(grey, green[i], factor);
    blue[i] = blend(grey, blue[i], factor);
  }
}

FEEDRATE_LOOP int rounded(float value) { return static_cast<int>(value + 0.5F); }

// `one` or `other`, both of which are there: with ?: compilers branch around what is not chosen.
FEEDRATE_LOOP int chosen(bool first, int one, int other) {
  return other ^ ((one ^ other) & -static_cast<int>(first));
}

// Pillow computes some of this with 64 bits. With 32, and in this order, the results are the same for
// all colours and turns, as tests show. A grey pixel has no saturation, so it stays as it is.
FEEDRATE_LOOP void hue_loop(const ColourPlanes& pixels, std::uint8_t turn) {
  std::uint8_t* __restrict red = pixels.red;
  std::uint8_t* __restrict green = pixels.green;
  std::uint8_t* __restrict blue = pixels.blue;
  const std::size_t count = pixels.count;
  for (std::size_t i = 0; i < count; ++i) {
    const int r = red[i], g = green[i], b = blue[i];
    const int highest = std::max(r, std::max(g, b)), lowest = std::min(r, std::min(g, b));
    const int middle = r + g + b - highest - lowest, range = highest - lowest;
    const float between =
        static_cast<float>(highest - middle) / static_cast<float>(std::max(range, 1));
    // Sixths of the circle: red is at 0, green at 2, blue at 4.
    const bool red_leads = r == highest, green_leads = g == highest;
    const int centre = chosen(red_leads, 0, chosen(green_leads, 2, 4));
    const int next = chosen(red_leads, b, chosen(green_leads, r, g));
    const auto side = static_cast<float>(chosen(next == lowest, 1, -1));
    const float sixths = static_cast<float>(centre) + side - side * between;
    const float turns = sixths / 6.0F;
    const float circle = turns + static_cast<float>(turns < 0.0F);
    const int hue = (static_cast<int>(circle * 255.0F) + turn) & 255;
    const int saturation = static_cast<int>(static_cast<float>(range) /
                                            static_cast<float>(std::max(highest, 1)) * 255.0F);
    // And back: the sector of the new hue, 0 … 6, and how far it reaches into that.
    const int sector = hue * 6 / 255;
    const float part = static_cast<float>(hue * 6 - sector * 255) / 255.0F;
    const float share = static_cast<float>(saturation) / 255.0F;
    const auto value = static_cast<float>(highest);
    const int p = rounded(value - value * share);
    const int q = rounded(value - value * (share * part));
    const int t = rounded(value - value * (share * (1.0F - part)));
    const int place = chosen(sector == 6, 0, sector);
    const int low_or_rising = chosen(place == 4, t, p), low_or_falling = chosen(place == 3, q, p);
    red[i] = static_cast<std::uint8_t>(chosen(
        place == 0, highest, chosen(place == 1, q, chosen(place == 5, highest, low_or_rising))));
    green[i] = static_cast<std::uint8_t>(
        chosen(place == 0, t, chosen(place < 3, highest, low_or_falling)));
    blue[i] = static_cast<std::uint8_t>(
        chosen(place < 2, p, chosen(place == 2, t, chosen(place == 5, q, highest))));
  }
}

// The centre weighs 5 of 13, its eight neighbours the rest.
FEEDRATE_LOOP void sharpen_loop(const ThreeRows& rows, float factor, std::uint8_t* __restrict to) {
  const std::uint8_t *above = rows.above, *centre = rows.centre, *below = rows.below;
  const auto step = static_cast<std::ptrdiff_t>(rows.channels);
  const auto count = static_cast<std::ptrdiff_t>(rows.count);
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const int sum = 5 * centre[i] + above[i - step] + above[i] + above[i + step] +
                    centre[i - step] + centre[i + step] + below[i - step] + below[i] +
                    below[i + step];
    const auto smooth = static_cast<std::uint8_t>((2 * sum + 13) / 26);
    to[i] = blend(smooth, centre[i], factor);
  }
}

// So many sums stay in registers.
constexpr std::size_t together = 32;

FEEDRATE_LOOP void weigh_rows_loop(const WeighedRows& rows, std::size_t count,
                                   float* __restrict to) {
  std::size_t first = 0;
  for (; first + together <= count; first += together) {
    float sums[together] = {};
    for (std::size_t tap = 0; tap < rows.taps; ++tap) {
      const std::uint8_t* const row = rows.rows[tap] + first;
      for (std::size_t i = 0; i < together; ++i)
        sums[i] += rows.weights[tap] * static_cast<float>(row[i]);
    }
    std::copy_n(sums, together, to + first);
  }
  for (; first < count; ++first) {
    float sum = 0;
    for (std::size_t tap = 0; tap < rows.taps; ++tap)
      sum += rows.weights[tap] * static_cast<float>(rows.rows[tap][first]);
    to[first] = sum;
  }
}

// Half to even: a number of this size has no bits for fractions.
FEEDRATE_LOOP std::uint8_t whole(float value) {
  constexpr float large = 12582912.0F;
  return static_cast<std::uint8_t>(static_cast<int>((value + large) - large));
}

FEEDRATE_LOOP void weigh_neighbours_loop(const float* row, const WeighedNeighbours& neighbours,
                                         std::size_t count, std::uint8_t* __restrict to) {
  std::size_t first = 0;
  for (; first + together <= count; first += together) {
    float sums[together] = {};
    for (std::size_t tap = 0; tap < neighbours.taps; ++tap) {
      const float* const from = row + first + tap * neighbours.channels;
      for (std::size_t i = 0; i < together; ++i) sums[i] += neighbours.weights[tap] * from[i];
    }
    for (std::size_t i = 0; i < together; ++i) to[first + i] = whole(sums[i]);
  }
  for (; first < count; ++first) {
    float sum = 0;
    for (std::size_t tap = 0; tap < neighbours.taps; ++tap)
      sum += neighbours.weights[tap] * row[first + tap * neighbours.channels];
    to[first] = whole(sum);
  }
}

}  // namespace
}  // namespace feedrate::loader

// The loops for the instructions TARGET, as the constant `name`_tone_loops.
#define FEEDRATE_TONE_LOOPS(TARGET, name)                                                     \
  namespace {                                                                                 \
  TARGET void blend_##name(std::span<std::uint8_t> values, std::uint8_t from, float factor) { \
    blend_loop(values, from, factor);                                                         \
  }                                                                                           \
  TARGET int luma_##name(const ColourPlanes& pixels) { return luma_loop(pixels); }            \
  TARGET void saturate_##name(const ColourPlanes& pixels, float factor) {                     \
    saturate_loop(pixels, factor);                                                            \
  }                                                                                           \
  TARGET void hue_##name(const ColourPlanes& pixels, std::uint8_t turn) {                     \
    hue_loop(pixels, turn);                                                                   \
  }                                                                                           \
  TARGET void sharpen_##name(const ThreeRows& rows, float factor, std::uint8_t* to) {         \
    sharpen_loop(rows, factor, to);                                                           \
  }                                                                                           \
  TARGET void weigh_rows_##name(const WeighedRows& rows, std::size_t count, float* to) {      \
    weigh_rows_loop(rows, count, to);                                                         \
  }                                                                                           \
  TARGET void weigh_neighbours_##name(const float* row, const WeighedNeighbours& neighbours,  \
                                      std::size_t count, std::uint8_t* to) {                  \
    weigh_neighbours_loop(row, neighbours, count, to);                                        \
  }                                                                                           \
  }                                                                                           \
  const ToneLoops name##_tone_loops{                                                          \
      blend_##name,   luma_##name,       saturate_##name,        hue_##name,                  \
      sharpen_##name, weigh_rows_##name, weigh_neighbours_##name};
