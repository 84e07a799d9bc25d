#include "formats/inspect/font.h"

#include <fontconfig/fontconfig.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>

#include "formats/digests/digest.h"

namespace feedrate::formats {
namespace {

constexpr Colour black = {0, 0, 0};
constexpr Colour white = {255, 255, 255};

std::string drawn(const Font& font, std::string_view text) {
  Canvas canvas(font.height(), 300, black);
  font.draw(canvas, 0, 0, text, white);
  return hex(sha256(canvas.take().pixels));
}

TEST(UnitFont, letters_of_any_script_are_drawn_and_differ) {
  const Font font("ñ ß Ж Ω");
  std::set<std::string> pictures;
  for (const char* text : {"", "n", "ñ", "ß", "Ж", "Ш", "Ω", "ñ Ж"}) {
    pictures.insert(drawn(font, text));
  }
  EXPECT_EQ(pictures.size(), 8U);
}

// The characters of `text` that at least one installed font has outlines for, each as a text.
std::vector<std::string> installed(std::string_view text) {
  const std::unique_ptr<FcConfig, decltype(&FcConfigDestroy)> config(FcInitLoadConfigAndFonts(),
                                                                     FcConfigDestroy);
  std::vector<std::string> found;
  const FcFontSet* fonts = FcConfigGetFonts(config.get(), FcSetSystem);
  for (int size = 0; !text.empty(); text.remove_prefix(static_cast<std::size_t>(size))) {
    FcChar32 character = 0;
    size = FcUtf8ToUcs4(reinterpret_cast<const FcChar8*>(text.data()), &character,
                        static_cast<int>(text.size()));
    for (int i = 0; i < fonts->nfont; ++i) {
      FcCharSet* characters = nullptr;
      FcBool scalable = FcFalse;
      FcPatternGetBool(fonts->fonts[i], FC_SCALABLE, 0, &scalable);
      FcPatternGetCharSet(fonts->fonts[i], FC_CHARSET, 0, &characters);
      if (scalable == FcFalse || FcCharSetHasChar(characters, character) == FcFalse) continue;
      found.emplace_back(text.substr(0, static_cast<std::size_t>(size)));
      break;
    }
  }
  return found;
}

// No font has all of these: U+1D400 is in DejaVu's font for mathematics alone.
TEST(UnitFont, every_character_that_an_installed_font_has_is_drawn_beside_others) {
  const std::string text = "aЖא中あ한कไع𝐀";
  const Font font(text);
  std::set<std::string> pictures{drawn(font, "\U000F1234"), drawn(font, "")};
  const std::vector<std::string> characters = installed(text);
  EXPECT_GE(characters.size(), 2U);
  for (const std::string& character : characters) {
    EXPECT_TRUE(pictures.insert(drawn(font, character)).second) << character;
  }
}

TEST(UnitFont, hebrew_and_arabic_run_from_right_to_left_and_the_rest_does_not) {
  const Font font("ab אבגד");
  // One letter at the left edge, drawn alone, is what the picture of the word begins with.
  const auto begins_with = [&](std::string_view text, std::string_view letter) {
    const std::uint32_t width = font.measure(letter).width;
    const auto left = [&](std::string_view what) {
      Canvas canvas(font.height(), width, black);
      font.draw(canvas, 0, 0, what, white);
      return canvas.take().pixels;
    };
    return left(text) == left(letter);
  };
  EXPECT_TRUE(begins_with("אב", "ב"));
  EXPECT_TRUE(begins_with("ab", "a"));
  EXPECT_TRUE(begins_with("ab אב", "a"));
  EXPECT_TRUE(begins_with("אב גד", "ד"));
  EXPECT_TRUE(begins_with("אב ab", "ב"));
  EXPECT_FALSE(begins_with("אב", "א"));
}

TEST(UnitFont, a_character_that_the_font_lacks_has_a_place_of_its_own) {
  const Font font("a");
  const std::string_view unassigned = "\U000F1234";
  EXPECT_GT(font.measure(unassigned).width, 0U);
  EXPECT_NE(drawn(font, unassigned), drawn(font, ""));
}

TEST(UnitFont, text_is_measured_in_whole_characters_up_to_the_limit) {
  const Font font("Größe");
  const std::string_view text = "Größe";
  std::uint32_t sum = 0;
  for (const std::string_view letter : {"G", "r", "ö", "ß", "e"}) {
    EXPECT_EQ(font.measure(text, sum).width, sum);
    EXPECT_EQ(font.measure(text, sum + font.measure(letter).width - 1).width, sum);
    sum += font.measure(letter).width;
  }
  EXPECT_EQ(font.measure(text).width, sum);
  EXPECT_EQ(font.measure(text).bytes, text.size());
  const std::uint32_t three = font.measure("Grö").width;
  EXPECT_EQ(font.measure(text, three).bytes, std::string_view("Grö").size());
  EXPECT_EQ(font.measure("").width, 0U);
}

TEST(UnitFont, what_is_too_wide_ends_with_an_ellipsis_and_fits) {
  const std::string text = "Großer Жук mit langem Namen";
  const Font font(text);
  const std::uint32_t whole = font.measure(text).width;
  EXPECT_EQ(font.shortened(text, whole), text);
  for (std::uint32_t limit = font.measure("…").width; limit < whole; ++limit) {
    const std::string cut = font.shortened(text, limit);
    ASSERT_TRUE(cut.ends_with("…"));
    EXPECT_LE(font.measure(cut).width, limit);
    EXPECT_TRUE(text.starts_with(cut.substr(0, cut.size() - std::string_view("…").size())));
    EXPECT_EQ(cut.find("\uFFFD"), std::string::npos);
  }
  EXPECT_EQ(font.shortened(text, 0), "…");
}

TEST(HostileFont, bytes_that_are_no_utf_8_are_drawn_as_the_replacement_character) {
  const Font font("a\uFFFD");
  EXPECT_EQ(drawn(font, "a\xff\xe4z"), drawn(font, "a\uFFFD\uFFFDz"));
  EXPECT_EQ(drawn(font, "\xf0\x9f"), drawn(font, "\uFFFD\uFFFD"));
  EXPECT_EQ(font.measure(std::string_view("\0\n", 2)).bytes, 2U);
}

TEST(HostileFont, what_lies_beyond_the_canvas_is_left_out) {
  const Font font("Ågjy");
  const std::string text(500, 'y');
  for (const std::uint32_t at : {0U, 3U, 4U, 1000U}) {
    Canvas canvas(4, 4, black);
    font.draw(canvas, at, at, text, white);
    EXPECT_EQ(canvas.take().pixels.size(), 48U);
  }
}

}  // namespace
}  // namespace feedrate::formats
