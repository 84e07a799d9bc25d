#include "loader/pixels/view.h"

#include <algorithm>

#include "formats/base/error.h"
#include "formats/pixels/resize.h"
#include "loader/pixels/render.h"

namespace feedrate::loader {
using namespace formats;

namespace {

bool is_resized(const View& view) {
  return view.height != view.scaled_height || view.width != view.scaled_width;
}

// The part of [begin, begin + count) that lies in [0, side).
PixelRange inside(std::int64_t begin, std::int64_t count, std::int64_t side) {
  const std::int64_t first = std::clamp<std::int64_t>(begin, 0, side);
  const std::int64_t end = std::clamp<std::int64_t>(begin + count, first, side);
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first)};
}

bool fits(std::uint32_t begin, std::uint32_t count, std::uint32_t side) {
  return count > 0 && begin <= side && count <= side - begin;
}

}  // namespace

View whole_view(Shape stored) { return crop_view(0, 0, stored.height, stored.width); }

View crop_view(std::int32_t y, std::int32_t x, std::uint32_t height, std::uint32_t width) {
  return {y, x, height, width, height, width, {0, 0, height, width}};
}

View resized_view(const Rect& crop, std::uint32_t height, std::uint32_t width,
                  Interpolation interpolation) {
  return {static_cast<std::int32_t>(crop.y),
          static_cast<std::int32_t>(crop.x),
          crop.height,
          crop.width,
          height,
          width,
          {0, 0, height, width},
          false,
          interpolation};
}

bool shows_all(const View& view, Shape stored) { return view == whole_view(stored); }

void check_view(const View& view, Shape stored) {
  const Rect& window = view.window;
  const bool inside_crop = fits(window.y, window.height, view.scaled_height) &&
                           fits(window.x, window.width, view.scaled_width);
  const bool inside_image =
      !is_resized(view) ||
      (view.y >= 0 && fits(static_cast<std::uint32_t>(view.y), view.height, stored.height) &&
       view.x >= 0 && fits(static_cast<std::uint32_t>(view.x), view.width, stored.width));
  if (inside_crop && inside_image) return;
  throw Error(join("a view of ", view.height, "x", view.width, " pixels at ", view.y, ",", view.x,
                   " does not fit an image of ", stored.height, "x", stored.width));
}

detail::ViewSpans detail::spans_of(const View& view, std::uint32_t shrunk) {
  const auto offset = [shrunk](std::int32_t begin) {
    return static_cast<std::uint32_t>(begin) % shrunk;
  };
  return {{view.height, view.scaled_height, view.window.y, view.window.height, false, shrunk,
           offset(view.y), view.interpolation},
          {view.width, view.scaled_width, view.window.x, view.window.width, view.mirrored, shrunk,
           offset(view.x), view.interpolation}};
}

Rect needed_part(const View& view, Shape stored) {
  PixelRange rows{view.window.y, view.window.height}, columns{view.window.x, view.window.width};
  if (is_resized(view)) {
    const detail::ViewSpans spans = detail::spans_of(view);
    rows = source_of(spans.down);
    columns = source_of(spans.across);
  }
  rows = inside(std::int64_t{view.y} + rows.begin, rows.count, stored.height);
  columns = inside(std::int64_t{view.x} + columns.begin, columns.count, stored.width);
  return {rows.begin, columns.begin, rows.count, columns.count};
}

}  // namespace feedrate::loader
