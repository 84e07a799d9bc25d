#include "loader/pixels/render.h"

#include <algorithm>
#include <cstring>

#include "loader/pixels/pixel_rows.h"

namespace feedrate::loader {
using namespace formats;

namespace {

// A seat's row: black | pixels of the image | black.
struct Columns {
  std::size_t before, inside, after;
};

Columns columns_of(const View& view, const Rect& part) {
  const auto left = std::int64_t{view.x} + view.window.x;
  Columns columns{};
  columns.inside = part.width;
  columns.before = part.width == 0 ? 0 : static_cast<std::size_t>(part.x - left);
  columns.after = view.window.width - columns.before - columns.inside;
  if (view.mirrored) std::swap(columns.before, columns.after);
  return columns;
}

void copy_window(const View& view, Shape stored, PixelRows from, std::uint32_t channels,
                 MutableBytes seat) {
  const Rect part = needed_part(view, stored);
  const Columns columns = columns_of(view, part);
  const CopyPixels copy = pixel_copier(stored.channels, channels, view.mirrored);
  const auto top = std::int64_t{view.y} + view.window.y;
  const auto above = part.height == 0 ? view.window.height : static_cast<std::size_t>(part.y - top);
  const std::size_t row_bytes = std::size_t{view.window.width} * channels;
  std::byte* to = seat.data();
  std::memset(to, 0, above * row_bytes);
  to += above * row_bytes;
  for (std::size_t y = 0; y < part.height; ++y) {
    std::memset(to, 0, columns.before * channels);
    to += columns.before * channels;
    copy(from.first + y * from.stride, columns.inside, to);
    to += columns.inside * channels;
    std::memset(to, 0, columns.after * channels);
    to += columns.after * channels;
  }
  std::memset(to, 0, static_cast<std::size_t>(seat.data() + seat.size() - to));
}

}  // namespace

void Renderer::render(const View& view, Shape stored, PixelRows part, std::uint32_t channels,
                      MutableBytes seat, std::uint32_t shrunk) {
  if (view.height == view.scaled_height && view.width == view.scaled_width) {
    copy_window(view, stored, part, channels, seat);
  } else {
    resize(detail::spans_of(view, shrunk), stored.channels, part, channels, seat);
  }
}

void Renderer::resize(const detail::ViewSpans& spans, std::uint32_t stored_channels, PixelRows part,
                      std::uint32_t channels, MutableBytes seat) {
  const auto& [down, across] = spans;
  const std::size_t pixels = std::size_t{down.count} * across.count;
  if (stored_channels == channels) {
    resize_part(part, channels, down, across, seat, scratch_);
    return;
  }
  const MutableBytes resized = grown(resized_, pixels * stored_channels);
  resize_part(part, stored_channels, down, across, resized, scratch_);
  pixel_copier(stored_channels, channels, false)(resized.data(), pixels, seat.data());
}

}  // namespace feedrate::loader
