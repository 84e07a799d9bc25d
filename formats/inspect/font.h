#pragma once
// Text for pictures: glyphs of the installed fonts that fontconfig prefers, rasterised by FreeType.

#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "formats/inspect/canvas.h"

namespace feedrate::formats {

/// A sans-serif font, 15 pixels high, and others for the characters that it lacks. Text is UTF-8: an
/// invalid byte is drawn as U+FFFD, and a character that no installed font has as a box. Characters
/// are placed one by one, runs of Hebrew or Arabic from right to left, without shaping: Arabic
/// letters are not joined. One thread at a time; any number of threads may have a Font each.
class Font {
 public:
  static constexpr auto unlimited = std::numeric_limits<std::uint32_t>::max();

  /// The installed font that has most of the characters of `text`, and for each of the others the
  /// first font that has it; other texts get no fonts of their own. Throws Error if none is
  /// installed, or FreeType cannot open it.
  explicit Font(std::string_view text);
  ~Font();
  Font(const Font&) = delete;
  Font& operator=(const Font&) = delete;

  std::uint32_t height() const;  // of a line, in pixels

  struct Extent {
    std::size_t bytes = 0;
    std::uint32_t width = 0;  // pixels
  };
  /// As many whole characters from the start of `text` as fit into `limit` pixels.
  Extent measure(std::string_view text, std::uint32_t limit = unlimited) const;
  /// `text`, or as much of it as fits, followed by "…".
  std::string shortened(std::string_view text, std::uint32_t limit) const;
  /// Draws a line of text with its top left corner at that pixel, clipped to the canvas.
  void draw(Canvas& canvas, std::uint32_t top, std::uint32_t left, std::string_view text,
            Colour colour) const;

 private:
  struct Faces;
  std::unique_ptr<Faces> faces_;
};

}  // namespace feedrate::formats
