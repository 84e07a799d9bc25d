#include "formats/inspect/font.h"

#include <fontconfig/fontconfig.h>
#include <ft2build.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

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
using FontSet = std::unique_ptr<FcFontSet, Destroy<FcFontSetDestroy>>;

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

// Reads right to left: Hebrew, Arabic, Syriac, Thaana, N'Ko, and their presentation forms.
bool is_right_to_left(FcChar32 character) {
  return (character >= 0x0590 && character <= 0x08FF) ||
         (character >= 0xFB1D && character <= 0xFDFF) ||
         (character >= 0xFE70 && character <= 0xFEFF);
}

// The characters from left to right. Words of one right-to-left run stay together.
std::vector<FcChar32> from_left_to_right(std::string_view text) {
  std::vector<FcChar32> characters;
  while (!text.empty()) characters.push_back(take_character(text));
  for (auto begin = characters.begin(); begin != characters.end();) {
    begin = std::find_if(begin, characters.end(), is_right_to_left);
    auto end = begin;
    for (auto at = begin; at != characters.end() && (is_right_to_left(*at) || *at == ' '); ++at) {
      if (*at != ' ') end = at + 1;
    }
    std::reverse(begin, end);
    begin = end;
  }
  return characters;
}

// The installed fonts that suit a text.
class Fonts {
 public:
  explicit Fonts(std::string_view text)
      // A configuration of our own: the global one is never freed.
      : config_(FcInitLoadConfigAndFonts()),
        wanted_(FcNameParse(reinterpret_cast<const FcChar8*>("sans-serif:scalable=true"))) {
    const std::unique_ptr<FcCharSet, Destroy<FcCharSetDestroy>> characters(FcCharSetCreate());
    while (!text.empty()) FcCharSetAddChar(characters.get(), take_character(text));
    FcPatternAddCharSet(wanted_.get(), FC_CHARSET, characters.get());
    FcConfigSubstitute(config_.get(), wanted_.get(), FcMatchPattern);
    FcDefaultSubstitute(wanted_.get());
  }

  // fontconfig prefers fonts that have the characters, then those of the family. Null if none is
  // installed.
  Pattern best() const {
    FcResult ignored{};
    return Pattern(FcFontMatch(config_.get(), wanted_.get(), &ignored));
  }

  // The others in the order of preference, without those that add no character.
  FontSet others() const {
    FcResult ignored{};
    return FontSet(FcFontSort(config_.get(), wanted_.get(), FcTrue, nullptr, &ignored));
  }

 private:
  std::unique_ptr<FcConfig, Destroy<FcConfigDestroy>> config_;
  Pattern wanted_;
};

}  // namespace

// The main font, and others for the characters that it lacks.
struct Font::Faces {
  Faces() { check("FreeType", FT_Init_FreeType(&library)); }
  ~Faces() { FT_Done_FreeType(library); }  // frees the faces too
  Faces(const Faces&) = delete;
  Faces& operator=(const Faces&) = delete;

  static void check(const std::string& file, FT_Error error) {
    if (error != 0) fail(file, "FreeType cannot use this font: error ", error);
  }

  void open_main(const FcPattern* font) {
    std::string file = file_of(font);
    if (file.empty()) {
      throw Error("no font is installed for captions; on Debian, install fonts-dejavu-core");
    }
    check(file, open(font, main));
    include(main);
  }

  // Opens fonts until all characters of `text` are found, or there are no more fonts.
  void find_others(const Fonts& fonts, std::string_view text) {
    std::set<FcChar32> missing;
    while (!text.empty()) {
      const FcChar32 character = take_character(text);
      if (FT_Get_Char_Index(main, character) == 0) missing.insert(character);
    }
    if (missing.empty()) return;
    const FontSet others = fonts.others();
    for (int i = 0; others && i < others->nfont && !missing.empty(); ++i) {
      take_from(others->fonts[i], missing);
    }
  }

  // Outlines only: the bitmaps that some fonts carry besides are not antialiased.
  static FT_Error load_outline(FT_Face face, FcChar32 character, FT_Int32 render) {
    return FT_Load_Char(face, character, FT_LOAD_NO_BITMAP | FT_LOAD_TARGET_LIGHT | render);
  }

  const FT_GlyphSlotRec_& load(FcChar32 character, FT_Int32 render = 0) const {
    const auto found = others_for.find(character);
    const FT_Face face = found == others_for.end() ? main : found->second;
    check(face->family_name != nullptr ? face->family_name : "a font",
          load_outline(face, character, render));
    return *face->glyph;
  }

  FT_Face main = nullptr;
  std::uint32_t ascent = 0, descent = 0;  // of all faces in use, in pixels

 private:
  static std::string file_of(const FcPattern* font) {
    FcChar8* name = nullptr;
    if (font == nullptr || FcPatternGetString(font, FC_FILE, 0, &name) != FcResultMatch) return {};
    return reinterpret_cast<const char*>(name);
  }

  FT_Error open(const FcPattern* font, FT_Face& face) const {
    int index = 0;  // in a file with several fonts
    FcPatternGetInteger(font, FC_INDEX, 0, &index);
    const FT_Error error = FT_New_Face(library, file_of(font).c_str(), index, &face);
    return error != 0 ? error : FT_Set_Pixel_Sizes(face, 0, em);
  }

  void include(FT_Face face) {
    ascent = std::max(ascent, pixels(face->size->metrics.ascender));
    descent = std::max(descent, pixels(-face->size->metrics.descender));
  }

  // A font that cannot be opened, or has no outlines, is passed over.
  void take_from(const FcPattern* font, std::set<FcChar32>& missing) {
    FcCharSet* characters = nullptr;
    if (FcPatternGetCharSet(font, FC_CHARSET, 0, &characters) != FcResultMatch) return;
    const auto has = [&](FcChar32 c) { return FcCharSetHasChar(characters, c) == FcTrue; };
    FT_Face face = nullptr;
    if (std::none_of(missing.begin(), missing.end(), has) || open(font, face) != 0) return;
    const auto taken = std::erase_if(missing, [&](FcChar32 character) {
      return FT_Get_Char_Index(face, character) != 0 &&
             load_outline(face, character, FT_LOAD_RENDER) == 0 &&
             others_for.emplace(character, face).second;
    });
    if (taken != 0) include(face);
  }

  FT_Library library = nullptr;
  std::map<FcChar32, FT_Face> others_for;
};

Font::Font(std::string_view text) : faces_(std::make_unique<Faces>()) {
  const Fonts fonts(text);
  faces_->open_main(fonts.best().get());
  faces_->find_others(fonts, text);
}

Font::~Font() = default;

std::uint32_t Font::height() const { return faces_->ascent + faces_->descent; }

Font::Extent Font::measure(std::string_view text, std::uint32_t limit) const {
  Extent extent;
  for (std::string_view rest = text; !rest.empty(); extent.bytes = text.size() - rest.size()) {
    const std::uint32_t advance = pixels(faces_->load(take_character(rest)).advance.x);
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
  const std::int64_t baseline = std::int64_t{top} + faces_->ascent;
  std::int64_t pen = left;
  for (const FcChar32 character : from_left_to_right(text)) {
    const FT_GlyphSlotRec_& glyph = faces_->load(character, FT_LOAD_RENDER);
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
