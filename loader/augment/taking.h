#pragma once
// How pixels are moved, as parameters of parts: interpolation=bilinear:value=127, about x=9:y=4.5.
// Stateless.

#include <optional>

#include "formats/base/error.h"
#include "loader/augment/colour.h"
#include "loader/augment/warp.h"

namespace feedrate::loader {

inline constexpr std::string_view nearness_words[] = {"nearest",
                                                      "bilinear"};  // as Nearness has them
inline constexpr Parameter nearness_parameter = word_parameter("interpolation", nearness_words);
inline constexpr Parameter centre_x{"x", Parameter::Type::number, -65535, 65535, {0}};
inline constexpr Parameter centre_y{"y", Parameter::Type::number, -65535, 65535, {0}};

/// Of parts with nearness_parameter and the colours.
inline Taking taking_of(const ParameterValues& values) {
  return {static_cast<Nearness>(values.whole("interpolation")), colour_of(values)};
}

/// Of parts with centre_x and centre_y; nothing: the image's centre.
inline std::optional<Point> centre_in(std::string_view part, const ParameterValues& values) {
  if (values.is_given("x") != values.is_given("y"))
    throw formats::Error(formats::join("recipe ", part, ": expected x and y, or neither"));
  if (!values.is_given("x")) return std::nullopt;
  return Point{values.number("x"), values.number("y")};
}

}  // namespace feedrate::loader
