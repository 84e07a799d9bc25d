#pragma once
// The loops over pixels that changes of colours consist of, compiled for several sets of
// instructions. Stateless.

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedrate::loader {

/// Image.blend for one value: `from` + factor · (`to` - `from`), cut to 0 … 255.
constexpr std::uint8_t blend(std::uint8_t from, std::uint8_t to, float factor) {
  const float mixed = static_cast<float>(from) + factor * static_cast<float>(to - from);
  const float positive = mixed > 0.0F ? mixed : 0.0F;
  return static_cast<std::uint8_t>(positive < 255.0F ? positive : 255.0F);
}

/// `count` pixels of three colours. The planes do not overlap.
struct ColourPlanes {
  std::uint8_t *red, *green, *blue;
  std::size_t count;
};

/// Three rows of an image; the first of `count` values is at each pointer, and `channels` more lie
/// before it and behind the last.
struct ThreeRows {
  const std::uint8_t *above, *centre, *below;
  std::size_t channels, count;
};

/// Rows of an image, and how much each of them weighs.
struct WeighedRows {
  const std::uint8_t* const* rows;
  const float* weights;
  std::size_t taps;
};
/// How much each of some neighbours in a row weighs, which lie `channels` values apart.
struct WeighedNeighbours {
  const float* weights;
  std::size_t taps, channels;
};

struct ToneLoops {
  /// Blends each value with `from`, by `factor`.
  void (*blend_all)(std::span<std::uint8_t> values, std::uint8_t from, float factor);
  /// Of at most 2²³ pixels.
  int (*sum_of_lumas)(const ColourPlanes& pixels);
  /// Blends each pixel with its luma.
  void (*saturate)(const ColourPlanes& pixels, float factor);
  /// Adds `turn` to each hue, of 256, as in Pillow's HSV, whose three channels have 8 bits.
  void (*turn_hues)(const ColourPlanes& pixels, std::uint8_t turn);
  /// Blends Pillow's ImageFilter.SMOOTH of each value of the centre with the value.
  void (*sharpen)(const ThreeRows& rows, float factor, std::uint8_t* to);
  /// Sums of the weighed values of the rows, from the first row on.
  void (*weigh_rows)(const WeighedRows& rows, std::size_t count, float* to);
  /// Sums of weighed neighbours, the first of which is at `row`, rounded half to even.
  void (*weigh_neighbours)(const float* row, const WeighedNeighbours& neighbours, std::size_t count,
                           std::uint8_t* to);
};

extern const ToneLoops avx2_tone_loops;
extern const ToneLoops plain_tone_loops;
/// Those that this CPU can run, the fastest first. All give the same bits.
std::span<const ToneLoops> runnable_tone_loops();
inline const ToneLoops& tone_loops() { return runnable_tone_loops().front(); }

}  // namespace feedrate::loader
