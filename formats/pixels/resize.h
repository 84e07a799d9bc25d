#pragma once
// Images of another size: antialiased bilinear (a triangle filter as wide as the shrinking asks
// for), equal bit for bit to Pillow's `Image.resize(size, BILINEAR)` and thus to torchvision's
// Resize of a PIL image. (Rows first, then columns, as every Pillow before 13; since then it begins
// with columns where the height shrinks by more than twice the pixels that the width does.)
// Stateless: any thread, each with its own scratch.

#include <string>
#include <string_view>

#include "formats/pixels/image.h"
#include "formats/pixels/resize_axis.h"

namespace feedrate::formats {

/// What `--resize` asks for.
struct Resize {
  enum class Fit : std::uint8_t {
    short_side,  // the shorter side becomes `width` (= `height`), the ratio is kept
    long_side,   // the longer one does
    exact,       // width x height, whatever the ratio was
  };

  Fit fit = Fit::short_side;
  std::uint32_t width = 0;
  std::uint32_t height = 0;

  bool operator==(const Resize&) const = default;

  /// As parse_resize reads it: "short:256", "long:256", "224x160".
  std::string name() const;
  /// What becomes of an image of that shape. The other side is side · other / given, its fraction
  /// cut off (torchvision's rule), at least 1. Smaller images are enlarged. Throws Error when an
  /// image of such a shape could not be held.
  Shape target(Shape shape) const;
};

/// Throws Error that says what can be asked for.
Resize parse_resize(std::string_view text);

/// Memory that resize() grows and keeps: nothing is allocated for images no larger, and shrunk no
/// more, than those it has seen. One for each thread.
struct ResizeScratch {
  ResizeAxis across, down;
  Buffer rows;                          // rows that have their new width, as many as one needs
  std::vector<const std::byte*> lines;  // those that one new row is made of
};

/// Some rows and columns of what resize() would make of an image, the rows mirrored where `across`
/// says so. `source` begins at the first row and column that they are made of (source_of); `pixels`
/// gets down.count x across.count of them. Nothing else is read or computed.
void resize_part(PixelRows source, std::size_t channels, const ResizeSpan& down,
                 const ResizeSpan& across, MutableBytes pixels, ResizeScratch& scratch);

/// `image` brought to `target`, which has the same channels, into `pixels`: target.bytes() of them,
/// which do not overlap the image's.
void resize(const ImageView& image, Shape target, MutableBytes pixels, ResizeScratch& scratch);

}  // namespace feedrate::formats
