#pragma once
// Scenes for made colour images: a coloured form on a patterned ground, with grain. Ten forms, ten
// colours and ten grounds give a thousand classes. Any thread.

#include <string_view>

#include "converters/synths/picture.h"

namespace feedrate::converters {

/// The features of a scene, each 0 … 9.
struct Look {
  unsigned form = 0;
  unsigned colour = 0;
  unsigned ground = 0;
};

inline constexpr unsigned scene_forms = 10;
std::string_view form_name(unsigned form);

inline constexpr unsigned scene_classes = 1000;
/// The look of a class. No two classes look alike.
Look look_of(unsigned label);

/// Draws a scene into `pixels` (shape.bytes(), interleaved RGB).
void draw_scene(Look look, Draws& draws, formats::Shape shape, formats::MutableBytes pixels);

}  // namespace feedrate::converters
