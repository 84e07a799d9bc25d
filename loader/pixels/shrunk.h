#pragma once
// Views of images that were decoded at a half, a quarter or an eighth of their size: a view still
// speaks of the pixels of the stored image, and may begin and end within a shrunk one.
//
//   stored    │ 0 │ 1 │ 2 │ 3 │ 4 │ 5 │ 6 │ 7 │ 8 │ 9 │
//   crop                  ├───────────────────────┤          from 3 on, 6 pixels
//   shrunk    │   0   │   1   │   2   │   3   │   4   │      from 1.5 on, 3 pixels: 1 … 4 are needed
//
// Stateless.

#include "loader/pixels/view.h"

namespace feedrate::loader {

/// How many times an image may be shrunk for the view without being enlarged again: 8, 4, 2 or 1.
std::uint32_t possible_shrink(const View& view);
/// What the view needs of an image of that shape, in pixels of the one shrunk `shrunk` times: as
/// needed_part of view.h, which is that for 1.
formats::Rect needed_part(const View& view, formats::Shape stored, std::uint32_t shrunk);

}  // namespace feedrate::loader
