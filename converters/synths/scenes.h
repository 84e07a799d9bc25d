#pragma once
// Draws scenes for made photographs: a coloured form on a patterned ground, among scraps, with
// grain. Form, colour and ground, ten of each, make a thousand classes.

#include <cstdint>
#include <string>

#include "converters/synths/draws.h"
#include "formats/pixels/image.h"

namespace feedrate::converters {

inline constexpr unsigned scene_classes = 1000;

/// What is drawn for a class: "red disc on rows".
std::string scene_words(unsigned label);

/// Pixels that the form covers: the last column and row are part of it.
struct SceneBox {
  std::uint32_t xmin = 0;
  std::uint32_t ymin = 0;
  std::uint32_t xmax = 0;
  std::uint32_t ymax = 0;
};

/// Fills `pixels` (shape.bytes(), RGB) with a scene of that class; says where its form is. Any
/// thread; the same draws give the same bytes on every machine.
SceneBox draw_scene(unsigned label, Draws& draws, formats::Shape shape,
                    formats::MutableBytes pixels);

}  // namespace feedrate::converters
