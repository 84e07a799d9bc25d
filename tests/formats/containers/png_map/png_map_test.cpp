#include <gtest/gtest.h>

#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/partial_writes.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::make_examples;
using testing::TempDirectory;
using testing::write_dataset;

const Container& png_map() { return container("png-map"); }

class UnitPngMap : public ::testing::Test {
 protected:
  UnitPngMap() {
    write_dataset(png_map(), png_codec, set_, make_examples({4, 4, 1}, 3));
    map_ = set_ / "train_map.txt";
  }
  std::vector<int> labels_with(std::string_view map) {
    write_text(map_, map);
    const auto dataset = open_dataset(map_);
    std::vector<int> labels;
    Scratch scratch;
    for (std::uint64_t i = 0; i < dataset->size(); ++i) {
      labels.push_back(dataset->read(i, scratch).label);
    }
    return labels;
  }

  TempDirectory temporary_;
  fs::path set_ = temporary_ / "set";
  fs::path map_;
};

TEST_F(UnitPngMap, the_map_is_written_with_tabs_and_its_own_directory) {
  EXPECT_EQ(read_text(map_),
            ".../train/00000.png\t0\n.../train/00001.png\t1\n.../train/00002.png\t2\n");
}

TEST_F(UnitPngMap, a_dataset_can_be_moved) {
  fs::rename(set_, temporary_ / "elsewhere");
  EXPECT_EQ(open_dataset(temporary_ / "elsewhere")->size(), 3U);
}

TEST_F(UnitPngMap, two_or_three_columns_and_any_line_ends_are_read) {
  EXPECT_EQ(labels_with(".../train/00000.png\t7"), (std::vector{7}));
  EXPECT_EQ(labels_with("key\t.../train/00000.png\t7\r\n.../train/00001.png\t8\r\n"),
            (std::vector{7, 8}));
}

TEST_F(UnitPngMap, absolute_paths_and_paths_beside_the_map_are_read) {
  EXPECT_EQ(labels_with(join(set_ / "train/00001.png", "\t4\n")), (std::vector{4}));
  EXPECT_EQ(labels_with("train/00002.png\t5\n./train/00001.png\t6\n"), (std::vector{5, 6}));
}

TEST_F(UnitPngMap, relative_paths_are_seen_from_the_current_directory_as_in_cntk) {
  const fs::path before = fs::current_path();
  fs::current_path(temporary_.path());
  const auto labels = labels_with("set/train/00002.png\t5\n");
  fs::current_path(before);
  EXPECT_EQ(labels, (std::vector{5}));
}

TEST_F(UnitPngMap, bad_lines_are_named_by_number) {
  const std::string good = ".../train/00000.png\t0\n";
  expect_error([&] { labels_with(good + "no tabs here\n"); },
               {"train_map.txt", "line 2", "2 or 3 tab-separated columns", "found 1"});
  expect_error([&] { labels_with(good + good + "a\tb\tc\t1\n"); }, {"line 3", "found 4"});
  expect_error([&] { labels_with(good + "\n" + good); }, {"line 2", "found 1"});
  expect_error([&] { labels_with("x.png\tcat\n"); }, {"line 1", "'cat' is not a class number"});
  expect_error([&] { labels_with("x.png\t-1\n"); }, {"line 1", "'-1'"});
  expect_error([&] { labels_with("x.png\t99999999999\n"); }, {"line 1", "'99999999999'"});
  expect_error([&] { labels_with("\t1\n"); }, {"line 1", "path is empty"});
  expect_error([&] { labels_with(""); }, {"train_map.txt", "no lines"});
  using namespace std::string_view_literals;
  expect_error([&] { labels_with(".../train/00000.png\0.jpg\t1\n"sv); }, {"line 1", "zero byte"});
  expect_error([&] { labels_with("\0a.png\t1\n"sv); }, {"line 1", "zero byte"});
}

TEST_F(UnitPngMap, a_missing_image_names_line_and_path) {
  expect_error([&] { labels_with(".../train/00000.png\t0\n.../train/none.png\t0\n"); },
               {"train_map.txt", "line 2", "train/none.png", "No such file"});
  expect_error([&] { labels_with(".../train\t0\n"); }, {"line 1", "not a regular file"});
}

TEST_F(UnitPngMap, several_maps_in_a_directory_are_not_guessed_between) {
  write_text(set_ / "test_map.txt", ".../train/00001.png\t4\n");
  expect_error([&] { open_dataset(set_); }, {"/set", "test_map.txt, train_map.txt"});
  EXPECT_EQ(open_dataset(set_ / "test_map.txt")->size(), 1U);
}

TEST_F(UnitPngMap, an_image_inside_a_zip_is_refused_with_its_line) {
  const std::string good = ".../train/00000.png\t0\n";
  for (const char* path : {"images/simple.zip@/chunk0/a.png", "...\\c@d.zip@\\a.png"}) {
    expect_error([&] { labels_with(good + "key\t" + path + "\t3\r\n"); },
                 {"train_map.txt: line 2", path, "inside a ZIP archive are not read", "unzip it"});
  }
}

TEST_F(UnitPngMap, an_at_sign_may_be_part_of_a_name) {
  fs::copy_file(set_ / "train/00000.png", set_ / "me@home.png");
  EXPECT_EQ(labels_with(".../me@home.png\t3\n"), (std::vector{3}));
}

TEST_F(UnitPngMap, a_writer_killed_anywhere_is_gone_on_from) {
  const auto examples = make_examples({4, 4, 1}, 6);
  const WriterOptions options{.codec = &png_codec};
  testing::write_part(png_map(), temporary_ / "whole", options, examples);
  const auto whole = testing::files_of(temporary_ / "whole");
  for (std::uint64_t paused = 0; paused <= examples.size(); ++paused) {
    for (const std::uint64_t more : {0U, 1U, 3U}) {
      const fs::path killed = temporary_ / "killed";
      testing::write_with_a_kill(png_map(), killed, options, examples, paused, more);
      EXPECT_EQ(testing::files_of(killed), whole) << paused << " and " << more;
      fs::remove_all(killed);
    }
  }
}

TEST_F(UnitPngMap, indices_go_on_from_the_first_one) {
  testing::write_part(png_map(), temporary_ / "part", {.codec = &png_codec, .first = 2},
                      make_examples({4, 4, 1}, 4));
  EXPECT_EQ(read_text(temporary_ / "part/train_map.txt"),
            ".../train/00002.png\t2\n.../train/00003.png\t3\n");
}

TEST_F(UnitPngMap, a_negative_label_cannot_be_written) {
  auto examples = make_examples({4, 4, 1}, 1);
  examples[0].label = -3;
  expect_error([&] { write_dataset(png_map(), png_codec, temporary_ / "bad", examples); }, {"-3"});
}

TEST(UnitMeanXml, colour_is_written_blue_first_in_short_lines) {
  TempDirectory temporary;
  MeanImage mean{{2, 3, 3}, {}};
  for (int i = 0; i < 18; ++i) mean.values.push_back(i + 0.5);
  write_dataset(png_map(), png_codec, temporary / "set", make_examples({2, 3, 3}, 1), &mean);
  const std::string text = read_text(temporary / "set/mean.xml");
  EXPECT_EQ(text, R"(<?xml version="1.0" ?>
<opencv_storage>
  <Channel>3</Channel>
  <Row>2</Row>
  <Col>3</Col>
  <MeanImg type_id="opencv-matrix">
    <rows>1</rows>
    <cols>18</cols>
    <dt>f</dt>
    <data>2.500000e+00 1.500000e+00 5.000000e-01 5.500000e+00 4.500000e+00 3.500000e+00 8.500000e+00 7.500000e+00
      6.500000e+00 1.150000e+01 1.050000e+01 9.500000e+00 1.450000e+01 1.350000e+01 1.250000e+01 1.750000e+01
      1.650000e+01 1.550000e+01</data>
  </MeanImg>
</opencv_storage>
)");
}

TEST(UnitMeanXml, grey_is_written_as_it_is) {
  TempDirectory temporary;
  const MeanImage mean{{1, 2, 1}, {1.0, 2.0}};
  write_dataset(png_map(), png_codec, temporary / "set", make_examples({1, 2, 1}, 1), &mean);
  EXPECT_NE(read_text(temporary / "set/mean.xml").find("<data>1.000000e+00 2.000000e+00</data>"),
            std::string::npos);
}

}  // namespace
}  // namespace feedrate::formats
