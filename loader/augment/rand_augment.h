#pragma once
// The changes of torchvision's RandAugment, AutoAugment and TrivialAugmentWide, one at a time. Stateless.

#include <cstdint>
#include <span>

#include "loader/augment/taking.h"
#include "loader/operation.h"

namespace feedrate::loader {

/// In the order of RandAugment's table; AutoAugment knows the last one, too.
enum class Change : std::uint8_t {
  identity,
  shear_x,
  shear_y,
  translate_x,
  translate_y,
  rotate,
  brightness,
  colour,
  contrast,
  sharpness,
  posterize,
  solarize,
  autocontrast,
  equalize,
  invert,
};
inline constexpr std::uint32_t changes = 14;  // of RandAugment and TrivialAugmentWide

/// Whether it has two directions.
constexpr bool has_sign(Change change) {
  return change >= Change::shear_x && change <= Change::sharpness;
}

/// The largest sizes of changes, and how many there are of each, from nothing on.
struct Ranges {
  float shear, across, down, degrees, tone;
  double bits;  // that posterize takes away
  std::uint32_t bins;
};
/// Of RandAugment and AutoAugment.
Ranges usual_ranges(formats::Shape shape, std::uint32_t bins);
/// Of TrivialAugmentWide.
Ranges wide_ranges(std::uint32_t bins);

/// The size number `magnitude`, 0 ... bins - 1, of a change; 0 where a change has no sizes.
double size_of(Change change, const Ranges& ranges, std::uint32_t magnitude);

/// `scratch` holds an image.
void change_image(Change change, double size, Canvas image, std::span<std::uint8_t> scratch,
                  Taking taking = {});

}  // namespace feedrate::loader
