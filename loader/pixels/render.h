#pragma once
// Executes views: turns the pixels decoded for a view into an image of a batch, in one pass. One
// thread for each Renderer, which keeps its memory: images no larger than those before allocate
// nothing.

#include "formats/pixels/resize.h"
#include "loader/pixels/view.h"

namespace feedrate::loader {
namespace detail {

struct ViewSpans {
  formats::ResizeSpan down, across;
};
/// What a resized view does along both axes to an image decoded at 1/`shrunk` of its size.
ViewSpans spans_of(const View& view, std::uint32_t shrunk = 1);

}  // namespace detail

class Renderer {
 public:
  /// `part` holds needed_part(view, stored, shrunk), with `stored.channels` bytes a pixel. Writes all of
  /// `seat`, which has the size of the view's window and `channels` bytes a pixel, 1 or 3, whatever
  /// the stored image has.
  void render(const View& view, formats::Shape stored, formats::PixelRows part,
              std::uint32_t channels, formats::MutableBytes seat, std::uint32_t shrunk = 1);

 private:
  void resize(const detail::ViewSpans& spans, std::uint32_t stored_channels,
              formats::PixelRows part, std::uint32_t channels, formats::MutableBytes seat);

  formats::ResizeScratch scratch_;
  formats::Buffer resized_;
};

}  // namespace feedrate::loader
