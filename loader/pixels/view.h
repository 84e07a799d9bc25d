#pragma once
// What a recipe asks for, as plain numbers: which pixels of a stored image become an image of a
// batch, and how. Making a view is cheap and has no memory; a Renderer executes it.
//
//   stored image            crop, resized             window = the image of the batch
//  ┌───────────────┐
//  │   ┌───────┐   │      ┌─────────────┐
//  │   │ crop  │   │  ──► │  ┌───────┐  │  ──►   ┌───────┐  mirrored or not
//  │   └───────┘   │      │  └───────┘  │        └───────┘
//  └───────────────┘      └─────────────┘

#include "formats/pixels/image.h"

namespace feedrate::loader {

struct View {
  // The crop. It may reach over the image's edges, where all is black, unless it is resized.
  std::int32_t y = 0;
  std::int32_t x = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  // The size that it is brought to: antialiased bilinear, as formats/pixels/resize.h has it.
  std::uint32_t scaled_height = 0;
  std::uint32_t scaled_width = 0;
  formats::Rect window;   // of the resized crop
  bool mirrored = false;  // left becomes right

  bool operator==(const View&) const = default;
};

/// All of an image of that shape, as it is.
View whole_view(formats::Shape stored);
/// The crop as it is.
View crop_view(std::int32_t y, std::int32_t x, std::uint32_t height, std::uint32_t width);
/// The crop resized.
View resized_view(const formats::Rect& crop, std::uint32_t height, std::uint32_t width);

/// Whether the view is the image as it is stored: decoding into the seat is all there is to do.
bool shows_all(const View& view, formats::Shape stored);
/// Throws Error unless the window lies inside the resized crop, and a resized crop in the image.
void check_view(const View& view, formats::Shape stored);
/// The stored pixels that it takes: empty where it shows black only.
formats::Rect needed_part(const View& view, formats::Shape stored);

}  // namespace feedrate::loader
