#pragma once
// The changes of torchvision's RandAugment, one at a time. Stateless.

#include <cstdint>
#include <span>

#include "loader/operation.h"

namespace feedrate::loader {

/// In the order of torchvision's table.
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
};
inline constexpr std::uint32_t changes = 14;

/// Which of the strengths 0 … bins - 1 of a change, and in which direction.
struct Strength {
  std::uint32_t magnitude, bins;
  bool minus;  // of no effect where a change has one direction
};

/// `scratch` holds an image.
void change_image(Change change, Strength strength, Canvas image, std::span<std::uint8_t> scratch);

}  // namespace feedrate::loader
