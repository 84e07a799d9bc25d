// The options of feedrate.h are the table's settings: each has a member with its default and its limit,
// and its words are constants.

#include <gtest/gtest.h>

#include <regex>

#include "formats/base/text.h"
#include "loader/settings.h"
#include "tests/support/places.h"
#include "tests/support/run_program.h"
#include "tools/bindings/c/feedrate.h"

namespace feedrate::tools {
using namespace formats;
using namespace loader;

namespace {

std::string header() {
  return testing::slurp(testing::source_directory() / "tools/bindings/c/feedrate.h");
}

/// Calls visit(row) for every setting.
template <class Visit>
void for_each_row(const Visit& visit) {
  LoaderSettings usual;
  for (const BoundSetting& one : bound_settings(usual)) visit(one.row);
}

TEST(UnitSettingsOfC, every_setting_has_a_member_that_says_its_limit) {
  const std::string all = header();
  const std::size_t begin = all.find("typedef struct feedrate_loader_options {");
  const std::string members = all.substr(begin, all.find("} feedrate_loader_options;") - begin);
  for_each_row([&](const Setting& row) {
    if (row.name == "seed") return;  // a member of `start`
    std::smatch member;              // its line, and those of its comment
    const std::regex line(join(R"(\n  [^/\n]*[ *])", row.name, R"([,;].*(\n   *//.*)*)"));
    ASSERT_TRUE(std::regex_search(members, member, line)) << row.name;
    if (row.kind != SettingKind::whole || row.max == Setting::unlimited) return;
    const std::uint64_t limit = row.name == "rank" ? max_ranks : row.max;
    EXPECT_NE(member.str().find("at most " + grouped(limit)), std::string::npos) << member.str();
  });
}

TEST(UnitSettingsOfC, every_word_is_a_constant) {
  const std::string all = header();
  const auto expect = [&](const std::string& constant, int value) {
    const std::regex defined(join(R"([{ ])", constant, " = ", value, R"([,\s])"));
    EXPECT_TRUE(std::regex_search(all, defined)) << constant << " = " << value;
  };
  for_each_row([&](const Setting& row) {
    int number = row.kind == SettingKind::word && row.optional ? 1 : 0;
    for (const std::string_view word : row.words) {
      expect(spelled_word(row, word, Spelling::c), number++);
    }
    const std::string nothing = spelled_nothing(row, Spelling::c);
    if (nothing.starts_with("FEEDRATE_")) expect(nothing, row.words.empty() ? -1 : 0);
  });
}

TEST(UnitSettingsOfC, defaults_are_the_tables) {
  feedrate_loader_options options;
  ASSERT_EQ(feedrate_loader_options_init(&options, sizeof options), FEEDRATE_OK)
      << feedrate_last_error()->text;
  const LoaderSettings usual;
  EXPECT_EQ(options.recipe, usual.recipe);
  EXPECT_EQ(options.batch, usual.batch);
  EXPECT_EQ(options.threads, FEEDRATE_THREADS_AUTO);
  EXPECT_EQ(options.epochs, usual.epochs);
  EXPECT_EQ(options.start.seed, usual.seed);
  EXPECT_EQ(options.start.epoch + options.start.position, 0U);
  EXPECT_EQ(options.rank, usual.rank);
  EXPECT_EQ(options.ranks, usual.ranks);
  EXPECT_EQ(options.shuffle, -1);
  EXPECT_EQ(options.pixels, static_cast<int>(usual.pixels));
  EXPECT_EQ(options.layout, FEEDRATE_LAYOUT_USUAL);
  EXPECT_EQ(options.window, usual.window);
  EXPECT_EQ(options.shuffle_blocks, usual.shuffle_blocks);
  EXPECT_EQ(options.last, static_cast<int>(usual.last));
  EXPECT_EQ(options.on_bad, static_cast<int>(usual.on_bad));
  EXPECT_EQ(options.bad_budget, usual.bad_budget);
  EXPECT_EQ(options.mean_count + options.deviation_count, 0U);
  EXPECT_EQ(options.io_threads, usual.io_threads);
  EXPECT_EQ(options.decode, static_cast<int>(usual.decode));
  EXPECT_EQ(options.crop_index, usual.crop_index);
}

}  // namespace
}  // namespace feedrate::tools
