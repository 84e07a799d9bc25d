#pragma once
// Draws coloured shapes as a camera might see them: somewhere, turned a little, larger or smaller,
// on a ground of two colours, among scraps, with noise. For made sets of colour images.

#include <array>
#include <string_view>

#include "converters/synths/draws.h"
#include "formats/pixels/image.h"

namespace feedrate::converters {

/// What draw_shape knows: `kind` is an index of these.
inline constexpr std::array<std::string_view, 10> shape_names = {
    "disc", "ring", "square", "frame", "triangle", "cross", "bar", "half", "pair", "stripes"};

/// True where a shape covers a point of its own box, -1 … 1 in both directions, y downwards.
bool shape_covers(unsigned kind, float right, float down);

/// Fills `pixels` (side², interleaved RGB) with a shape of that kind. The kind decides the form
/// and, by half, the colour. Any thread; the same draws give the same bytes on every machine.
void draw_shape(unsigned kind, Draws& draws, std::uint32_t side, formats::MutableBytes pixels);

}  // namespace feedrate::converters
