#pragma once
// Draws digits as a hand might: strokes, slanted, squeezed and shaky, of some thickness and ink, on
// paper with specks and stray lines.

#include "converters/synths/draws.h"
#include "formats/pixels/image.h"

namespace feedrate::converters {

inline constexpr std::uint32_t digit_side = 28;

/// Fills `pixels` (digit_side², ink bright on black) with the digit. Any thread.
void draw_digit(unsigned digit, Draws& draws, formats::MutableBytes pixels);

}  // namespace feedrate::converters
