#pragma once
// Colours as parameters of parts: value=124:green=116:blue=104, or value=7 for a grey. Stateless.

#include <array>
#include <cstdint>

#include "loader/recipe_parameters.h"

namespace feedrate::loader {

using Colour = std::array<std::uint8_t, 3>;  // of which a grey image takes the first value

inline constexpr Parameter colour_value{"value", Parameter::Type::whole, 0, 255, {0}};
inline constexpr Parameter colour_green{"green", Parameter::Type::whole, 0, 255, {0}};
inline constexpr Parameter colour_blue{"blue", Parameter::Type::whole, 0, 255, {0}};

/// A grey, unless green or blue is given: then the value is red, and each that is missing as the value.
inline Colour colour_of(const ParameterValues& values) {
  const auto given = [&](const char* name) {
    return static_cast<std::uint8_t>(values.whole(values.is_given(name) ? name : "value"));
  };
  return {given("value"), given("green"), given("blue")};
}

}  // namespace feedrate::loader
