#include "formats/inspect/font.h"

#include <fontconfig/fontconfig.h>
#include <ft2build.h>

#include <algorithm>

#include FT_FREETYPE_H
#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

constexpr FT_UInt em = 15;  // pixels
constexpr std::string_view ellipsis = "…";

template <auto function>
struct Destroy {
  void operator()(auto* object) const { function(object); }
};
using Pattern = std::unique_ptr<FcPattern, Destroy<FcPatternDestroy>>;

// FreeType measures in 64ths of a pixel. Negative sizes, in broken fonts, become 0.
std::uint32_t pixels(FT_Pos size) {
  return static_cast<std::uint32_t>((std::max(size, FT_Pos{0}) + 63) / 64);
}

// Removes the first character from `text` and returns it.
FcChar32 take_character(std::string_view& text) {
  constexpr FcChar32 replacement = 0xFFFD;
  constexpr std::size_t max_bytes = 6;  // of a character
  FcChar32 character = 0;
  const int size = FcUtf8ToUcs4(reinterpret_cast<const FcChar8*>(text.data()), &character,
                                static_cast<int>(std::min(text.size(), max_bytes)));
  text.remove_prefix(static_cast<std::size_t>(std::max(size, 1)));
  return size > 0 ? character : replacement;
}

// fontconfig prefers fonts that have the characters, then those of the family.
Pattern best_font(std::string_view text) {
  // A configuration of our own: the global one is never freed.
  const std::unique_ptr<FcConfig, Destroy<FcConfigDestroy>> config(FcInitLoadConfigAndFonts());
  const std::unique_ptr<FcCharSet, Destroy<FcCharSetDestroy>> characters(FcCharSetCreate());
  while (!text.empty()) FcCharSetAddChar(characters.get(), take_character(text));
  const Pattern wanted(FcNameParse(reinterpret_cast<const FcChar8*>("sans-serif:scalable=true")));
  FcPatternAddCharSet(wanted.get(), FC_CHARSET, characters.get());
  FcConfigSubstitute(config.get(), wanted.get(), FcMatchPattern);
  FcDefaultSubstitute(wanted.get());
  FcResult ignored{};
  return Pattern(FcFontMatch(config.get(), wanted.get(), &ignored));
}

}  // namespace

struct Font::Face {
  ~Face() { FT_Done_FreeType(library); }  // frees the face too

  void check(FT_Error error) const {
    if (error != 0) fail(file, "FreeType cannot use this font: error ", error);
  }

  void open(const FcPattern* font) {
    FcChar8* name = nullptr;
    if (font == nullptr || FcPatternGetString(font, FC_FILE, 0, &name) != FcResultMatch) {
      throw Error("no font is installed for captions; on Debian, install fonts-dejavu-core");
    }
    file = reinterpret_cast<const char*>(name);
    int index = 0;  // in a file with several fonts
    FcPatternGetInteger(font, FC_INDEX, 0, &index);
    check(FT_Init_FreeType(&library));
    check(FT_New_Face(library, file.c_str(), index, &face));
    check(FT_Set_Pixel_Sizes(face, 0, em));
  }

  // Outlines only: the bitmaps that some fonts carry besides are not antialiased.
  const FT_GlyphSlotRec_& load(FcChar32 character, FT_Int32 render = 0) const {
    check(FT_Load_Char(face, character, FT_LOAD_NO_BITMAP | FT_LOAD_TARGET_LIGHT | render));
    return *face->glyph;
  }

  std::string file;
  FT_Library library = nullptr;
  FT_Face face = nullptr;
};

Font::Font(std::string_view text) : face_(std::make_unique<Face>()) {
  face_->open(best_font(text).get());
}

Font::~Font() = default;

std::uint32_t Font::height() const {
  const FT_Size_Metrics& metrics = face_->face->size->metrics;
  return pixels(metrics.ascender) + pixels(-metrics.descender);
}

Font::Extent Font::measure(std::string_view text, std::uint32_t limit) const {
  Extent extent;
  for (std::string_view rest = text; !rest.empty(); extent.bytes = text.size() - rest.size()) {
    const std::uint32_t advance = pixels(face_->load(take_character(rest)).advance.x);
    if (advance > limit - extent.width) break;
    extent.width += advance;
  }
  return extent;
}

std::string Font::shortened(std::string_view text, std::uint32_t limit) const {
  if (measure(text, limit).bytes == text.size()) return std::string(text);
  const std::uint32_t end = std::min(measure(ellipsis).width, limit);
  return join(text.substr(0, measure(text, limit - end).bytes), ellipsis);
}

void Font::draw(Canvas& canvas, std::uint32_t top, std::uint32_t left, std::string_view text,
                Colour colour) const {
  const std::int64_t baseline = std::int64_t{top} + pixels(face_->face->size->metrics.ascender);
  std::int64_t pen = left;
  while (!text.empty()) {
    const FT_GlyphSlotRec_& glyph = face_->load(take_character(text), FT_LOAD_RENDER);
    const FT_Bitmap& shades = glyph.bitmap;
    for (std::int64_t y = 0; y < shades.rows; ++y) {
      for (std::int64_t x = 0; x < shades.width; ++x) {
        canvas.blend(baseline - glyph.bitmap_top + y, pen + glyph.bitmap_left + x, colour,
                     shades.buffer[y * shades.pitch + x]);
      }
    }
    pen += pixels(glyph.advance.x);
  }
}

}  // namespace feedrate::formats
