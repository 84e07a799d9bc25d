#pragma once
// Image resizing: antialiased bilinear or bicubic (filters that widen as the image shrinks), equal
// bit for bit to Pillow's `Image.resize(size, BILINEAR)` or BICUBIC and thus to torchvision's Resize
// of a PIL image. (Rows first, then columns, like every Pillow before 13; later ones begin with columns
// where the height shrinks by more than twice the pixels that the width does.) Stateless: any
// thread, each with its own scratch.

#include <string>
#include <string_view>

#include "formats/pixels/image.h"
#include "formats/pixels/resize_axis.h"

namespace feedrate::formats {

/// The value of `--resize`.
struct Resize {
  enum class Fit : std::uint8_t {
    short_side,  // the shorter side becomes `width` (= `height`), keeping the ratio
    long_side,   // the same for the longer side
    exact,       // width x height, ignoring the ratio
  };

  Fit fit = Fit::short_side;
  std::uint32_t width = 0;
  std::uint32_t height = 0;

  bool operator==(const Resize&) const = default;

  /// In parse_resize()'s notation: "short:256", "long:256", "224x160".
  std::string name() const;
  /// The resized shape of an image of that shape. The other side is side · other / given, rounded
  /// down (torchvision's rule), at least 1. Smaller images are enlarged. Throws Error when the
  /// result would be too large an image.
  Shape target(Shape shape) const;
  /// The same, however large: for those who compute only a part of the result.
  Shape whole(Shape shape) const;
};

/// Throws Error that lists the accepted forms.
Resize parse_resize(std::string_view text);

/// Memory that resize() grows and keeps: images that are no larger, and shrink no more, than
/// earlier ones allocate nothing. One for each thread.
struct ResizeScratch {
  ResizeAxis across, down;
  Buffer rows;                          // rows of the new width, as many as one target row needs
  std::vector<const std::byte*> lines;  // the source rows of one target row
};

/// Computes only some rows and columns of what resize() would make, mirrored where `across` says
/// so. `source` begins at the first row and column that they need (source_of); `pixels` receives
/// down.count x across.count pixels. Nothing else is read or computed.
void resize_part(PixelRows source, std::size_t channels, const ResizeSpan& down,
                 const ResizeSpan& across, MutableBytes pixels, ResizeScratch& scratch);

/// Resizes `image` to `target`, which has the same channels, into `pixels`: target.bytes() bytes
/// that do not overlap the image's.
void resize(const ImageView& image, Shape target, MutableBytes pixels, ResizeScratch& scratch,
            Interpolation interpolation = Interpolation::bilinear);

}  // namespace feedrate::formats
