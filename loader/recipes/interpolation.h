#pragma once
// By which filter recipes resize, as a parameter: interpolation=bicubic. Stateless.

#include "formats/base/error.h"
#include "formats/pixels/resize_axis.h"
#include "loader/recipe_parameters.h"

namespace feedrate::loader {

// As formats::Interpolation has them; then, for each image of a training, one of the two.
inline constexpr std::string_view interpolations[] = {"bilinear", "bicubic", "random"};
inline constexpr Parameter fixed_interpolation =
    word_parameter("interpolation", std::span(interpolations).first<2>());
inline constexpr Parameter drawn_interpolation = word_parameter("interpolation", interpolations);

inline formats::Interpolation interpolation_of(const ParameterValues& values) {
  return static_cast<formats::Interpolation>(values.whole("interpolation"));
}

/// How a random crop is resized.
struct DrawnInterpolation {
  explicit DrawnInterpolation(const ParameterValues& values)
      : is_drawn(values.whole("interpolation") == 2),
        fixed(is_drawn ? formats::Interpolation::bilinear : interpolation_of(values)) {}
  /// By a bit of the sample's.
  formats::Interpolation by(std::uint64_t bits) const {
    return is_drawn ? static_cast<formats::Interpolation>(bits >> 63) : fixed;
  }

  bool is_drawn;
  formats::Interpolation fixed;  // bilinear where it is drawn
};

/// As a parameter behind others; "" for the default.
inline std::string interpolation_text(formats::Interpolation interpolation) {
  if (interpolation == formats::Interpolation::bilinear) return "";
  return formats::join(":interpolation=", interpolations[static_cast<std::size_t>(interpolation)]);
}

}  // namespace feedrate::loader
