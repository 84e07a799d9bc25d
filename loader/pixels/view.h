#pragma once
// What a recipe asks for, as plain numbers: which pixels of a stored image become an image of a
// batch, and how. A view is cheap to make and owns no memory; a Renderer executes it. Stateless.
//
//   stored image            crop, resized             window = the image of the batch
//  ┌───────────────┐
//  │   ┌───────┐   │      ┌─────────────┐
//  │   │ crop  │   │  ──► │  ┌───────┐  │  ──►   ┌───────┐  mirrored or not
//  │   └───────┘   │      │  └───────┘  │        └───────┘
//  └───────────────┘      └─────────────┘

#include "formats/pixels/image.h"
#include "formats/pixels/resize_axis.h"

namespace feedrate::loader {

struct View {
  // The crop. Unless it is resized, it may extend beyond the image, where it is black.
  std::int32_t y = 0;
  std::int32_t x = 0;
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  // The size that it is resized to, as in formats/pixels/resize.h.
  std::uint32_t scaled_height = 0;
  std::uint32_t scaled_width = 0;
  formats::Rect window;                                                     // of the resized crop
  bool mirrored = false;                                                    // left becomes right
  formats::Interpolation interpolation = formats::Interpolation::bilinear;  // where it is resized

  bool operator==(const View&) const = default;
};

/// The whole image of that shape, as it is.
View whole_view(formats::Shape stored);
/// A crop as it is.
View crop_view(std::int32_t y, std::int32_t x, std::uint32_t height, std::uint32_t width);
/// A crop, resized to `height` × `width`.
View resized_view(const formats::Rect& crop, std::uint32_t height, std::uint32_t width,
                  formats::Interpolation interpolation = formats::Interpolation::bilinear);

/// Whether the view is the image as stored, so that it can be decoded directly into its seat.
bool shows_all(const View& view, formats::Shape stored);
/// Throws Error unless the window lies inside the resized crop, and a resized crop inside the
/// image.
void check_view(const View& view, formats::Shape stored);
/// The stored pixels that the view needs: empty when it is all black.
formats::Rect needed_part(const View& view, formats::Shape stored);

}  // namespace feedrate::loader
