// `feedrate inspect`: of odd datasets in memory, and with the real binary of datasets on disk.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "formats/base/error.h"
#include "formats/io/file.h"
#include "tests/support/memory_dataset.h"
#include "tests/support/run_program.h"
#include "tests/support/sample_images.h"
#include "tools/console/bars.h"
#include "tools/program/cli/command.h"
#include "tools/program/commands/inspect_report.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using nlohmann::ordered_json;
using testing::Example;
using testing::feedrate;
using testing::make_examples;
using testing::MemoryDataset;
using testing::Said;
using testing::TempDirectory;
using testing::write_dataset;

/// A dataset in memory with any reader and any sidecar.
class Odd final : public Dataset {
 public:
  explicit Odd(std::uint64_t size, MemoryDataset::OnRead on_read = {})
      : images_(size, {4, 4, 1}, std::move(on_read)) {
    info_ = images_.info();
    info_.classes = 0;
  }
  Sample read(std::uint64_t index, Scratch& scratch) const override {
    return images_.read(index, scratch);
  }
  DatasetInfo& known() { return info_; }

 private:
  MemoryDataset images_;
};

// Examines `count` samples and lists the first two.
Inspection inspected(const Dataset& dataset, std::uint64_t count) {
  return inspect(dataset, survey(dataset, {count, 0, 1}), 2);
}

Sidecar sidecar_with(std::vector<std::uint64_t> counts) {
  Sidecar sidecar;
  sidecar.source = "mnist";
  sidecar.split = "train";
  sidecar.classes = static_cast<std::uint32_t>(counts.size());
  sidecar.class_counts = std::move(counts);
  return sidecar;
}

void expect_contains(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << "not there: " << part << "\n" << text;
}

ordered_json json_of(const Inspection& found) {
  return ordered_json::parse(inspection_json(found));
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) widest = std::max(widest, columns_of(line));
  return widest;
}

TEST(UnitInspect, counts_of_all_samples_take_precedence_over_the_sidecar) {
  Odd dataset(100);
  dataset.known().sidecar = sidecar_with({100, 0});
  const Inspection all = inspected(dataset, 0);
  EXPECT_EQ(all.counted, Inspection::Source::all);
  EXPECT_EQ(all.class_counts.size(), 10U);
  EXPECT_EQ(all.classes, 10U) << "labels beyond those of the sidecar were seen";
  EXPECT_EQ(all.class_counts[3], (std::pair<std::int32_t, std::uint64_t>{3, 10}));
}

TEST(UnitInspect, the_counts_of_a_sidecar_include_what_was_not_examined) {
  Odd dataset(1000);
  dataset.known().sidecar = sidecar_with({400, 600});
  const Inspection some = inspected(dataset, 50);
  EXPECT_EQ(some.counted, Inspection::Source::sidecar);
  EXPECT_EQ(some.class_counts[1].second, 600U);
}

TEST(UnitInspect, classes_behind_the_last_that_a_sidecar_counts_are_empty) {
  Odd dataset(1000);
  dataset.known().sidecar = sidecar_with({400, 600});
  dataset.known().classes = 4;
  const Inspection some = inspected(dataset, 50);
  EXPECT_EQ(some.classes, 4U);
  ASSERT_EQ(some.class_counts.size(), 4U);
  EXPECT_EQ(some.class_counts[3], (std::pair<std::int32_t, std::uint64_t>{3, 0}));
}

TEST(HostileInspect, a_sidecar_that_counts_another_number_of_samples_is_not_believed) {
  Odd dataset(1000);
  for (const std::vector<std::uint64_t>& counts :
       {std::vector<std::uint64_t>{400, 601}, {}, {~std::uint64_t{0}, 1, 999}}) {
    dataset.known().sidecar = sidecar_with(counts);
    const Inspection some = inspected(dataset, 50);
    EXPECT_EQ(some.counted, Inspection::Source::some);
    std::uint64_t sum = 0;
    for (const auto& [label, count] : some.class_counts) sum += count;
    EXPECT_EQ(sum, 50U);
  }
}

TEST(UnitInspect, json_says_what_was_counted) {
  Odd dataset(1000);
  EXPECT_EQ(json_of(inspected(dataset, 50)).at("class_counts_from"), "some");
  EXPECT_EQ(json_of(inspected(dataset, 0)).at("class_counts_from"), "all");
  dataset.known().sidecar = sidecar_with({400, 600});
  EXPECT_EQ(json_of(inspected(dataset, 50)).at("class_counts_from"), "sidecar");
  const ordered_json told = json_of(inspected(dataset, 50));
  EXPECT_EQ(told.at("looked_at").at("samples"), 50);
  EXPECT_EQ(told.at("looked_at").at("height").at("median"), 4);
  EXPECT_EQ(told.at("class_counts").at("1"), 600);
  EXPECT_EQ(told.at("first").size(), 2U);
}

TEST(UnitInspect, names_of_classes_need_no_sidecar) {
  Odd dataset(10);
  EXPECT_TRUE(json_of(inspected(dataset, 0)).at("class_names").is_null());
  dataset.known().class_names.names = {"a", "b"};
  EXPECT_EQ(json_of(inspected(dataset, 0)).at("class_names").at(1), "b");
  expect_contains(inspection_text(inspected(dataset, 0)), "\n  1 b 1 █");
}

TEST(UnitInspect, an_input_is_shown_with_its_hash_if_it_has_one) {
  Odd dataset(10);
  dataset.known().sidecar = sidecar_with({10});
  dataset.known().sidecar->inputs = {{"set", 2048, ""},
                                     {"set.tar", 4096, "xxh128:0123456789abcdef0123456789abcdef"}};
  const std::string text = inspection_text(inspected(dataset, 0));
  expect_contains(text, "\ninput    set, 2.0 KiB\n");
  expect_contains(text, "\ninput    set.tar, 4.0 KiB, xxh128:0123456789abcdef…\n");
}

TEST(UnitInspect, classes_without_a_sample_are_counted) {
  Odd dataset(100);
  dataset.known().classes = 12;
  const std::string text = inspection_text(inspected(dataset, 0));
  expect_contains(text, "2 labels without a sample");
  expect_contains(text, "\n  11  0\n");
}

// The text about classes of `counts` samples each, as a sidecar has counted them.
std::string classes_text(const std::vector<std::uint64_t>& counts) {
  Odd dataset(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  dataset.known().sidecar = sidecar_with(counts);
  return inspection_text(inspected(dataset, 1));
}

TEST(UnitInspect, words_say_how_balanced_the_classes_are) {
  expect_contains(classes_text({5000, 5000}), "balanced: each has 5,000 samples");
  expect_contains(classes_text({5010, 4990, 5001}), "balanced: 4,990–5,010 samples a class");
  expect_contains(
      classes_text({300, 100, 200}),
      "         100–300 samples a class, median 200, the largest 3.0 times the smallest");
}

TEST(UnitInspect, in_a_random_sample_chance_is_distinguished_from_imbalance) {
  const Odd even(100'000);
  expect_contains(inspection_text(inspected(even, 1000)), "balanced: ");
  const Odd uneven(100'000, [](std::uint64_t index, Sample& sample) {
    sample.label = static_cast<std::int32_t>(index % 10 < 6 ? 0 : index % 10);
  });
  const std::string text = inspection_text(inspected(uneven, 1000));
  expect_contains(text, "not balanced: ");
  expect_contains(text, "1,000 of 100,000 samples");
  expect_contains(text, "at least 10, ");
}

TEST(UnitInspect, many_classes_are_a_profile_and_the_extremes) {
  std::vector<std::uint64_t> counts(1000, 20);
  counts[700] = 90;
  counts[3] = 1;
  const std::string text = classes_text(counts);
  EXPECT_LT(std::ranges::count(text, '\n'), 40) << "one screen\n" << text;
  expect_contains(text, "\n  700 90 █");
  expect_contains(text, "\n    3  1 █\n");
}

TEST(HostileInspect, labels_below_zero_and_huge_ones_are_counted) {
  const Odd dataset(10, [](std::uint64_t index, Sample& sample) {
    sample.label = index % 2 == 0 ? std::numeric_limits<std::int32_t>::min() : -5;
  });
  const Inspection found = inspected(dataset, 0);
  EXPECT_EQ(found.classes, 0U);
  expect_contains(inspection_text(found), "-2147483648 5 █");
  const Odd huge(4, [](std::uint64_t, Sample& sample) {
    sample.label = std::numeric_limits<std::int32_t>::max();
  });
  EXPECT_EQ(inspected(huge, 0).classes, std::uint64_t{1} << 31U);
}

TEST(HostileInspect, damaged_samples_are_listed_among_the_others) {
  const Odd dataset(100, [](std::uint64_t index, Sample&) {
    if (index == 1 || index == 60) throw Error("sample is cut \x1b[31m off");
  });
  const Inspection found = inspected(dataset, 0);
  const std::string text = inspection_text(found);
  expect_contains(text, "2 of them; the first: sample is cut ?[31m off");
  expect_contains(text, "       1 damaged: sample is cut");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  const ordered_json told = json_of(found);
  EXPECT_EQ(told.at("looked_at").at("unreadable"), 2);
  EXPECT_EQ(told.at("first").at(1).at("damage"), "sample is cut \x1b[31m off");
  EXPECT_EQ(told.at("first").at(0).at("label"), 0);
}

TEST(HostileInspect, whatever_names_hold_no_line_is_wider_than_the_screen) {
  Odd dataset(100, [](std::uint64_t, Sample& sample) {
    sample.name =
        "an-unreasonably-long-name-of-an-image-\r\n\x1b]0;-that-somebody-gave-to-a-file.jpeg"
        "-and-then-some-more-of-it-without-a-single-blank";
  });
  dataset.known().sidecar = sidecar_with(std::vector<std::uint64_t>(10, 10));
  ClassNames& names = dataset.known().class_names;
  for (int i = 0; i < 10; ++i) {
    std::string name = "größe";
    for (int k = 0; k < 40; ++k) name += "\x1b[2J…";
    names.names.push_back(std::move(name));
  }
  const std::string text = inspection_text(inspected(dataset, 0));
  EXPECT_LE(widest_line(text), 100U) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
}

class CommandsInspect : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return (directory_.path() / name).string(); }
  TempDirectory directory_;
};

TEST_F(CommandsInspect, a_bare_dataset_is_described_on_one_screen) {
  const auto examples = make_examples({28, 28, 1}, 200);
  write_dataset(container("recordio"), png_codec, at("set"), examples);
  const Said said = feedrate({"inspect", at("set"), "--samples", "3"});
  EXPECT_EQ(said.code, exit_done) << said.errors;
  expect_contains(said.output, "recordio × png");
  expect_contains(said.output, "200, each 28 × 28 × 1");
  expect_contains(said.output, "data.rec, ");
  expect_contains(said.output, "each has 20 samples");
  expect_contains(said.output, "\n       2 label 2, 28 × 28 × 1, ");
  EXPECT_EQ(said.output.find("\n       3 label"), std::string::npos);
  EXPECT_LE(widest_line(said.output), 100U) << said.output;
  EXPECT_LT(std::ranges::count(said.output, '\n'), 40);
}

TEST_F(CommandsInspect, every_format_is_described_and_drawn) {
  for (const Container* each : containers()) {
    const Codec& codec = each->default_codec();
    const std::string set = at(std::string(each->name()));
    write_dataset(*each, codec, set, make_examples({8, 8, 3}, 40, true));
    const std::string sheet = set + ".png";
    const Said said = feedrate({"inspect", set, "--json", "--sheet", sheet});
    ASSERT_EQ(said.code, exit_done) << said.errors;
    const ordered_json told = ordered_json::parse(said.output);
    EXPECT_EQ(told.at("format"), each->name());
    EXPECT_EQ(told.at("samples"), 40);
    EXPECT_EQ(told.at("classes"), 10);
    EXPECT_EQ(told.at("class_counts_from"), "all");
    EXPECT_EQ(told.at("class_counts").at("9"), 4);
    EXPECT_EQ(told.at("looked_at").at("width").at("max"), 8);
    EXPECT_TRUE(testing::slurp(sheet).starts_with("\x89PNG")) << each->name();
    std::uint64_t bytes = 0;
    for (const auto& file : told.at("files")) bytes += file.at("bytes").get<std::uint64_t>();
    EXPECT_EQ(told.at("files").empty(), bytes == 0);
  }
}

TEST_F(CommandsInspect, a_damaged_sample_does_not_hide_the_others) {
  write_dataset(container("recordio"), png_codec, at("set"), make_examples({28, 28, 1}, 50));
  std::fstream file(at("set/data.rec"), std::ios::in | std::ios::out | std::ios::binary);
  const std::string content = testing::slurp(at("set/data.rec"));
  const std::string index = testing::slurp(at("set/data.idx"));
  const std::size_t second = std::stoul(index.substr(index.find("\n1\t") + 3));
  file.seekp(static_cast<std::streamoff>(second));
  file.write("....", 4);  // where the record's magic number stood
  file.close();
  const Said said = feedrate({"inspect", at("set")});
  EXPECT_EQ(said.code, exit_done) << said.errors;
  expect_contains(said.output, "damaged  1 of them; the first: ");
  expect_contains(said.output, "       1 damaged: ");
  expect_contains(said.output, "       2 label 2, 28 × 28 × 1");
}

TEST_F(CommandsInspect, a_sheet_that_cannot_be_written_fails_and_names_the_file) {
  write_dataset(container("recordio"), png_codec, at("set"), make_examples({8, 8, 1}, 4));
  const Said said = feedrate({"inspect", at("set"), "--sheet", at("no/such/place.png")});
  EXPECT_EQ(said.code, exit_failed);
  expect_contains(said.errors, "no/such/place.png");
}

TEST_F(CommandsInspect, without_a_font_a_sheet_is_not_written_and_one_to_install_is_named) {
  write_dataset(container("recordio"), png_codec, at("set"), make_examples({8, 8, 1}, 4));
  write_text(at("fonts.conf"), "<fontconfig></fontconfig>");
  setenv("FONTCONFIG_FILE", at("fonts.conf").c_str(), 1);
  const Said said = feedrate({"inspect", at("set"), "--sheet", at("sheet.png")});
  unsetenv("FONTCONFIG_FILE");
  EXPECT_EQ(said.code, exit_failed);
  expect_contains(said.errors, "fonts-dejavu-core");
  EXPECT_FALSE(std::filesystem::exists(at("sheet.png")));
}

}  // namespace
}  // namespace feedrate::tools
