#include "loader/pixels/shrunk.h"

#include "formats/pixels/resize.h"
#include "loader/pixels/render.h"

namespace feedrate::loader {
using namespace formats;

std::uint32_t possible_shrink(const View& view) {
  for (const std::uint32_t shrunk : {8U, 4U, 2U}) {
    if (view.height / shrunk >= view.scaled_height && view.width / shrunk >= view.scaled_width) {
      return shrunk;
    }
  }
  return 1;
}

Rect needed_part(const View& view, Shape stored, std::uint32_t shrunk) {
  if (shrunk == 1) return needed_part(view, stored);
  const detail::ViewSpans spans = detail::spans_of(view, shrunk);
  const PixelRange rows = source_of(spans.down), columns = source_of(spans.across);
  return {static_cast<std::uint32_t>(view.y) / shrunk + rows.begin,
          static_cast<std::uint32_t>(view.x) / shrunk + columns.begin, rows.count, columns.count};
}

}  // namespace feedrate::loader
