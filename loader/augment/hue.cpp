// Turns hues by way of Pillow's HSV, whose three channels have 8 bits.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "loader/augment/tones.h"

namespace feedrate::loader {

namespace {

/// What only needs the 256 values of a channel or two, computed once: divisions take most of the
/// time otherwise. 384 KiB.
struct Tables {
  std::array<std::array<float, 256>, 256> quotient;           // of [difference][dividend]
  std::array<std::array<std::uint8_t, 256>, 256> saturation;  // of [highest][difference]
  std::array<std::uint8_t, 256> sector;                       // of a hue: 0 … 6
  std::array<double, 256> fraction;                           // of that sector
  std::array<double, 256> share;                              // of a saturation: 0 … 1

  Tables() {
    for (std::size_t difference = 0; difference < 256; ++difference) {
      const auto range = static_cast<float>(difference);
      for (std::size_t value = 0; value < 256; ++value) {
        const auto number = static_cast<float>(value);
        quotient[difference][value] = difference == 0 ? 0 : number / range;
        const float saturated = value == 0 || difference > value ? 0 : range / number;
        saturation[value][difference] = static_cast<std::uint8_t>(saturated * 255.0);
      }
    }
    for (std::size_t hue = 0; hue < 256; ++hue) {
      const double sixths = static_cast<float>(hue) * 6.0 / 255.0;
      sector[hue] = static_cast<std::uint8_t>(sixths);
      fraction[hue] = static_cast<float>(sixths - sector[hue]);
      share[hue] = static_cast<float>(static_cast<float>(hue) / 255.0);
    }
  }
};

const Tables& tables() {
  static const Tables made;
  return made;
}

std::uint8_t rounded(double value) { return static_cast<std::uint8_t>(value + 0.5); }

void turn(std::uint8_t* pixel, std::uint8_t by, const Tables& known) {
  const std::uint8_t red = pixel[0], green = pixel[1], blue = pixel[2];
  const std::uint8_t highest = std::max({red, green, blue}), lowest = std::min({red, green, blue});
  // A grey pixel has the hue 0 and no saturation, so that no turn changes it.
  if (highest == lowest) return;
  const auto& over = known.quotient[highest - lowest];
  const float r = over[highest - red], g = over[highest - green], b = over[highest - blue];
  const float sixths = red == highest     ? b - g
                       : green == highest ? static_cast<float>(2.0 + r - b)
                                          : static_cast<float>(4.0 + g - r);
  const double turns = sixths / 6.0 + 1.0;
  const auto circle = static_cast<float>(turns >= 1.0 ? turns - 1.0 : turns);
  const auto hue = static_cast<std::uint8_t>(
      static_cast<std::uint8_t>(std::min(255, static_cast<int>(circle * 255.0))) + by);

  const std::uint8_t saturation = known.saturation[highest][highest - lowest];
  if (saturation == 0) {
    pixel[0] = pixel[1] = pixel[2] = highest;
    return;
  }
  const double share = known.share[saturation], part = known.fraction[hue];
  const auto value = static_cast<double>(highest);
  const std::uint8_t p = rounded(value * (1.0 - share));
  const std::uint8_t q = rounded(value * (1.0 - share * part));
  const std::uint8_t t = rounded(value * (1.0 - share * (1.0 - part)));
  const std::uint8_t v = highest;
  const std::uint8_t sectors[6][3] = {{v, t, p}, {q, v, p}, {p, v, t},
                                      {p, q, v}, {t, p, v}, {v, p, q}};
  std::copy_n(sectors[known.sector[hue] % 6], 3, pixel);
}

}  // namespace

void adjust_hue(Canvas image, double turn_by) {
  if (image.shape.channels != 3) return;
  // As torchvision: towards zero, then modulo 256.
  const auto by = static_cast<std::uint8_t>(static_cast<int>(turn_by * 255));
  const Tables& known = tables();
  const std::size_t size = image.shape.bytes();
  for (std::size_t at = 0; at < size; at += 3) turn(image.pixels + at, by, known);
}

}  // namespace feedrate::loader
