// What a terminal gets and a pipe does not. The real binary runs under script(1), in a pseudo-terminal.

#include "tools/console/terminal.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/in_text.h"
#include "tests/support/run_program.h"
#include "tools/console/console.h"

namespace feedrate::tools {
namespace {

/// stdout and stderr of `feedrate <words>` in a terminal with this environment.
std::string on_terminal(const std::string& environment, const std::string& words) {
  const std::string line = "env -u NO_COLOR -u COLUMNS -u LC_ALL -u LC_CTYPE -u LANG TERM=xterm " +
                           environment + " " + testing::program_under_test() + " " + words;
  return testing::run_program("script", {"-qc", line, "/dev/null"}).output;
}

constexpr std::string_view escape = "\033[";

TEST(UnitTerminal, our_signs_become_ascii_and_the_letters_of_names_stay) {
  EXPECT_EQ(as_ascii("28 × 28, 0 … 255"), "28 x 28, 0 ... 255");
  EXPECT_EQ(as_ascii("━━──"), "==--");
  EXPECT_EQ(as_ascii("é.jpg 5 µs"), "é.jpg 5 us");
  const std::string line = progress_line({"lmdb", "images", 1, 2, 1.0}, 100);
  EXPECT_TRUE(testing::has(line, "━"));
  for (const char c : as_ascii(line)) EXPECT_GE(c, ' ');
}

TEST(UnitTerminal, a_name_cannot_move_the_cursor) {
  EXPECT_EQ(shown_on(1, "a\033]0;title\a\r\x7f b"), "a\\x1b]0;title\\x07\\x0d\\x7f b");
  EXPECT_EQ(shown_on(1, "\033[2Jx\033[1;31mred\033[0m\n\tnext"),
            "\\x1b[2Jx\033[1;31mred\033[0m\n\tnext");
  EXPECT_EQ(shown_on(1,
                     "\xc2\x9b"
                     "31m \xc3\xa9 \033["),
            "\xc2\\x9b"
            "31m \xc3\xa9 \\x1b[");
}

TEST(CommandsTerminal, errors_have_colours_only_on_a_terminal_that_takes_them) {
  const std::string absent = "verify /no/such/place";
  EXPECT_TRUE(testing::has(on_terminal("", absent), escape));
  EXPECT_FALSE(testing::has(on_terminal("NO_COLOR=1", absent), escape));
  EXPECT_FALSE(testing::has(on_terminal("TERM=dumb", absent), escape));
  EXPECT_TRUE(testing::has(on_terminal("NO_COLOR=1", absent), "feedrate verify: /no/such/place: "));
  EXPECT_FALSE(testing::has(testing::feedrate({"verify", "/no/such/place"}).errors, escape));
}

TEST(CommandsTerminal, another_locale_than_utf_8_gets_ascii) {
  EXPECT_TRUE(testing::has(on_terminal("LC_ALL=C.UTF-8", "--help"), "COMMAND …"));
  EXPECT_TRUE(testing::has(on_terminal("LC_ALL=en_US.utf8", "--help"), "COMMAND …"));
  for (const char* locale : {"LC_ALL=C", "LC_ALL=POSIX LANG=C.UTF-8", "LANG=", "LANG=C"}) {
    const std::string help = on_terminal(locale, "--help");
    EXPECT_TRUE(testing::has(help, "COMMAND ...")) << locale;
    EXPECT_FALSE(testing::has(help, "…")) << locale;
  }
  EXPECT_TRUE(testing::has(
      testing::run_program("env", {"LC_ALL=C", testing::program_under_test(), "--help"}).output,
      "COMMAND …"))
      << "a pipe gets text as it is";
}

TEST(CommandsTerminal, a_progress_bar_has_colours_and_in_the_c_locale_ascii) {
  const testing::TempDirectory directory;
  const std::string synth = "synth mnist --images 30000 --out " + directory.path().string();
  EXPECT_TRUE(testing::has(on_terminal("LC_ALL=C.UTF-8", synth + "/a"), "\033[36m━"));
  const std::string plain = on_terminal("LC_ALL=C NO_COLOR=1", synth + "/b");
  EXPECT_TRUE(testing::has(plain, " =")) << plain;
  EXPECT_FALSE(testing::has(plain, "━")) << plain;
}

TEST(CommandsTerminal, help_is_as_wide_as_the_terminal) {
  const std::string line =
      "stty cols 60; env -u COLUMNS " + testing::program_under_test() + " load --help";
  std::string narrow = testing::run_program("script", {"-qc", line, "/dev/null"}).output;
  std::erase(narrow, '\r');
  const std::string wished =
      testing::run_program("env", {"COLUMNS=60", testing::program_under_test(), "load", "--help"})
          .output;
  EXPECT_EQ(as_ascii(narrow), as_ascii(wished));
}

}  // namespace
}  // namespace feedrate::tools
