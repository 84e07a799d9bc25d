// How names in a tar become samples, and the contents of wds2idx's index and a sample's .json.

#include "formats/containers/webdataset/tar_sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "formats/containers/webdataset/wds_index.h"
#include "formats/containers/webdataset/wds_json.h"
#include "formats/io/file.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

using testing::data_file;
using testing::expect_error;

std::string split(std::string_view name) {
  const auto parts = split_sample_name(name);
  return parts ? join(parts->key, '|', parts->extension) : "nothing";
}

// What webdataset's regular expression returns for the same names.
TEST(UnitTarSample, the_first_dot_of_the_base_name_splits_key_and_extension) {
  EXPECT_EQ(split("000012.jpg"), "000012|jpg");
  EXPECT_EQ(split("a.b/x.seg.png"), "a.b/x|seg.png");
  EXPECT_EQ(split("./x.PNG"), "./x|PNG");
  EXPECT_EQ(split("a/x."), "a/x|");
  EXPECT_EQ(split("README"), "nothing");
  EXPECT_EQ(split("a.b/README"), "nothing");
  EXPECT_EQ(split(""), "nothing");
}

TEST(UnitTarSample, a_hidden_file_has_its_directory_as_key) {
  EXPECT_EQ(split("a/.b.jpg"), "a/|b.jpg");
  EXPECT_EQ(split("a.b/c/.d"), "a.b/c/|d");
  EXPECT_EQ(split("/.d"), "/|d");
  EXPECT_EQ(split(".hidden.jpg"), "nothing");
  EXPECT_EQ(split("a.b/.d.jpg"), "nothing");
  EXPECT_EQ(split("."), "nothing");
}

TEST(UnitTarSample, names_between_two_underlines_are_metadata) {
  for (const std::string_view name : {"__meta__", "__x__/a.jpg", "____/a", "__", "___"}) {
    EXPECT_TRUE(is_tar_metadata(name)) << name;
  }
  for (const std::string_view name :
       {"__meta__.json", "a/__x__", "__x", "_x_", "__/a", "___/a", ""}) {
    EXPECT_FALSE(is_tar_metadata(name)) << name;
  }
}

TarSample taken(std::initializer_list<std::string_view> extensions, const SampleKeys& keys = {}) {
  TarSample sample{&keys};
  std::uint64_t offset = 0;
  for (const std::string_view extension : extensions) {
    SampleMember member;
    member.entry.name = join("key.", extension);
    member.entry.offset = ++offset;
    member.extension = extension;
    member.key = "key";
    sample.take(member);
  }
  return sample;
}

TEST(UnitTarSample, the_likeliest_image_wins_wherever_it_stands) {
  EXPECT_EQ(taken({"png", "jpeg", "jpg", "webp"}).image_name, "key.jpg");
  EXPECT_EQ(taken({"webp", "cls", "png"}).image->offset, 3U);
  EXPECT_EQ(taken({"seg.png", "webp"}).image_name, "key.webp");
  EXPECT_FALSE(taken({"seg.png", "txt"}).image.has_value());
}

TEST(UnitTarSample, an_image_and_a_label_that_are_named_are_taken) {
  EXPECT_EQ(taken({"left.jpg", "right.jpg", "jpg"}, {.image = "right.jpg"}).image_name,
            "key.right.jpg");
  EXPECT_EQ(taken({"in.png", "in.jpg", "jpg"}, {.image = "in"}).image_name, "key.in.jpg");
  EXPECT_FALSE(taken({"inner.png", "jpg"}, {.image = "in"}).image.has_value());
  EXPECT_EQ(taken({"cls", "class"}, {.label = "class"}).label->offset, 2U);
}

TEST(UnitTarSample, what_operating_systems_leave_behind_is_no_sample) {
  for (const std::string_view name : {"d/._0.jpg", "._0.jpg", "d/.DS_Store", "Thumbs.db",
                                      "a/desktop.ini", "__MACOSX/d/0.jpg", "x/__MACOSX/0.jpg"}) {
    EXPECT_EQ(split(name), "nothing") << name;
  }
  EXPECT_EQ(split("d/.jpg"), "d/|jpg");
  EXPECT_EQ(split("x__MACOSX/0.jpg"), "x__MACOSX/0|jpg");
}

TEST(UnitTarSample, an_extension_twice_is_an_error) {
  expect_error([] { taken({"cls", "jpg", "cls"}); }, {"two files", "extension cls"});
  EXPECT_NO_THROW(taken({"a.cls", "cls", "cl"}));
}

// Only the size of the tar counts here, not its bytes.
WdsIndex parsed(std::string_view text, std::size_t tar_bytes = 10240) {
  return parse_wds_index(text, Buffer(tar_bytes));
}

std::vector<std::uint64_t> list(const Offsets& offsets) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < offsets.size(); ++i) numbers.push_back(offsets[i]);
  return numbers;
}

TEST(UnitWdsIndex, both_versions_are_read) {
  const WdsIndex named = parsed("v1.2 2\ncls 512 1 a.cls jpg 1536 700 a.jpg\ncls 3072 1 b.cls\n");
  EXPECT_TRUE(named.named);
  EXPECT_EQ(list(named.lines), (std::vector<std::uint64_t>{7, 42}));
  EXPECT_EQ(list(named.starts), (std::vector<std::uint64_t>{0, 2560, 3584}));
  const WdsIndex unnamed = parsed("v1.1 1\ncls 512 1 jpg 1536 700");
  EXPECT_FALSE(unnamed.named);
  EXPECT_EQ(list(unnamed.starts), (std::vector<std::uint64_t>{0, 2560}));
}

TEST(UnitWdsIndex, the_index_is_named_after_the_tar_up_to_its_first_dot) {
  EXPECT_EQ(wds_index_path("a.b/train-000000.tar"), "a.b/train-000000.idx");
  EXPECT_EQ(wds_index_path("x.y.tar"), "x.idx");
}

TEST(HostileWdsIndex, what_cannot_be_is_refused_with_its_line) {
  expect_error([] { parsed(""); }, {"found 0"});
  expect_error([] { parsed("v1.3 1\nx 512 1\n"); }, {"line 1", "v1.1 or v1.2"});
  expect_error([] { parsed("v1.2 x\n"); }, {"line 1"});
  expect_error([] { parsed("v1.1 3\nx 512 1\n"); }, {"expected 3 lines", "found 1"});
  expect_error([] { parsed("v1.1 1\nx 512\n"); }, {"line 2", "expected an extension"});
  expect_error([] { parsed("v1.1 2\nx 512 1\n\n"); }, {"line 3", "expected an extension"});
  expect_error([] { parsed("v1.2 1\nx 512 1 a b.jpg\n"); }, {"line 2", "a name"});
  for (const std::string_view place :
       {"0 1", "513 1", "512 9729", "10752 0", "512 18446744073709551615", "18446744073709551104 1",
        "18446744073709551616 1", "-512 1"}) {
    expect_error([&] { parsed(join("v1.1 1\nx ", place, "\n")); }, {"line 2"});
  }
  expect_error([] { parsed("v1.1 2\nx 1536 1\nx 512 1\n"); }, {"line 3", "byte 512"});
  expect_error([] { parsed("v1.2 1\nc 512 1 a.c d 1536 1 b.d\n"); },
               {"line 2", "two samples, a, b"});
  expect_error([] { parsed("v1.2 2\nc 512 1 a.c\nd 1536 1 a.d\n"); },
               {"line 3", "a is two samples"});
}

TEST(UnitWdsIndex, lines_of_what_is_no_sample_are_passed_over) {
  const WdsIndex index = parsed("v1.2 3\n__m__ 512 1 __m__\nc 1536 1 a.c\nREADME 2560 1 README\n");
  EXPECT_EQ(index.lines.size(), 1U);
  EXPECT_EQ(list(index.starts), (std::vector<std::uint64_t>{0, 2048}));
}

TEST(InteropWdsIndex, the_indexes_of_dali_are_read) {
  for (const std::string_view version : {"-v1.1", "-v1.2", ""}) {
    const auto file = data_file(join("vectors/dali_index/webdataset", version, ".idx"));
    if (!file) GTEST_SKIP() << "the vectors of other tools are not on this machine";
    const WdsIndex index = parsed(read_text(*file), 12'160'000);
    EXPECT_EQ(index.named, version == "-v1.2");
    EXPECT_EQ(index.lines.size(), 47U);
    EXPECT_EQ(index.starts.back(), 11910144U + 241664U);
    expect_error([&] { parsed(read_text(*file), 12'000'000); }, {"line 48", "of 12000000"});
  }
}

std::string written(const Sample& sample, const ClassNames& classes = {}) {
  std::string json = "something of before";
  write_sample_json(sample, classes, json);
  return json;
}

TEST(HostileSampleJson, a_label_that_json_cannot_hold_is_named) {
  const float labels[] = {1, std::numeric_limits<float>::quiet_NaN()};
  Sample sample;
  sample.labels = labels;
  expect_error([&] { written(sample); }, {"label 1 is nan"});
}

TEST(UnitSampleJson, it_says_what_is_known_of_the_sample_and_nothing_else) {
  Sample sample;
  sample.label = 1;
  const ClassNames named{{"cat", "dog"}, {}};
  EXPECT_EQ(written(sample, named), "");
  sample.name = "d/\"x\"\n.jpg";
  EXPECT_EQ(written(sample), R"({"filename": "d/\"x\"\n.jpg"})");
  EXPECT_EQ(written(sample, named), R"({"filename": "d/\"x\"\n.jpg", "class name": "dog"})");
  sample.name = "";
  const Box boxes[] = {{0, 0.25F, 0.1F, 1}, {0.5F, 0.5F, 0.75F, 0.75F}};
  sample.boxes = boxes;
  EXPECT_EQ(written(sample, {{"n1", "n2"}, {"tench", "goldfish"}}),
            R"({"synset": "n2", "text": "goldfish", )"
            R"("boxes": [[0, 0.25, 0.1, 1], [0.5, 0.5, 0.75, 0.75]]})");
}

TEST(UnitSampleJson, what_is_written_is_what_is_read) {
  Sample sample;
  std::vector<Box> boxes;
  std::vector<float> labels;
  for (int i = 1; i < 200; ++i) {
    const float f = static_cast<float>(i) / 200;
    boxes.push_back({f / 3, f * f / 2, f, std::nextafter(f, 1.0F)});
    labels.push_back((f - 0.5F) * 1e6F);
  }
  sample.name = "caf\xc3\xa9 \\ \x01.jpg";
  sample.boxes = boxes;
  sample.labels = labels;
  Scratch scratch;
  const SampleJson read = read_sample_json(as_bytes(written(sample)), "label", scratch);
  EXPECT_EQ(read.label, std::nullopt);
  EXPECT_EQ(read.boxes_left_out, 0U);
  EXPECT_EQ(scratch.name, sample.name);
  EXPECT_EQ(scratch.boxes, boxes);
  EXPECT_EQ(scratch.labels, labels);
  sample = {};
  sample.name = "latin1 caf\xe9";
  expect_error([&] { written(sample); }, {"latin1 caf\xef\xbf\xbd", "is not UTF-8"});
}

TEST(UnitSampleJson, keys_of_other_tools_are_passed_over) {
  Scratch scratch;
  const auto label = [&](std::string_view json) {
    return read_sample_json(as_bytes(json), "label", scratch).label;
  };
  EXPECT_EQ(
      label(R"({"label": 7, "caption": {"label": 8, "filename": "inner"}, "x": [[1, null]]})"), 7);
  EXPECT_EQ(scratch.name, "");
  EXPECT_EQ(label(R"({"label": "cat", "filename": 7})"), std::nullopt);
  EXPECT_EQ(label(R"({"label": "3"})"), 3);
  EXPECT_EQ(label(R"({"label": 3.0})"), 3);
  expect_error([&] { label(R"({"label": 2.5})"); }, {"the label '2.5' is not a class number"});
  expect_error([&] { label(R"({"label": 1e300})"); }, {"the label '1e300' is not a class number"});
  const SampleJson other =
      read_sample_json(as_bytes(R"({"label": 1, "fine": "a cat"})"), "fine", scratch);
  EXPECT_EQ(other.label, std::nullopt);
  EXPECT_EQ(other.label_text, "a cat");
}

TEST(UnitSampleJson, boxes_are_put_in_order_and_clamped_and_those_that_are_none_counted) {
  struct Case {
    std::string_view json;
    std::vector<Box> boxes;
    std::uint32_t left_out;
  };
  const Box all{0, 0, 1, 1}, some{0.25F, 0.25F, 0.5F, 0.5F};
  const Case cases[] = {
      {"[[0, 0, 1.0000001, 1], [0.25, 0.25, 0.5, 0.5]]", {all, some}, 0},
      {"[[-0.01, -1, 2, 1.5]]", {all}, 0},
      {"[[0.5, 0.25, 0.25, 0.5]]", {some}, 0},
      {"[[0.25, 0.25, 0.5, 0.5], [0, 0, 0, 1]]", {some}, 1},
      {"[[10, 20, 30, 40], [0.25, 0.25, 0.5, 0.5]]", {some}, 1},
      {"[[0.1, 0.1, 0.2]]", {}, 1},
      {"[[0, 0, 1, 1, 1], [0, 0, 1, 1]]", {all}, 1},
      {R"([[0, 0, 1, 1], "x", null, 5])", {all}, 3},
      {"[[[0, 0, 1, 1]]]", {}, 1},
      {R"([{"a": [0, 0, 1, 1]}, [0, 0, 1, 1]])", {all}, 1},
      {"[[0, 0, null, 1, 1], [0, 0, 1, 1, null], [0, 0, 1, [1]]]", {}, 3},
      {R"({"a": [0, 0, 1, 1]})", {}, 1},
      {"7", {}, 1},
      {"[]", {}, 0},
      {"null", {}, 0},
  };
  Scratch scratch;
  for (const Case& one : cases) {
    const SampleJson read = read_sample_json(
        as_bytes(join(R"({"boxes": )", one.json, R"(, "label": 3})")), "label", scratch);
    EXPECT_EQ(read.label, 3) << one.json;
    EXPECT_EQ(scratch.boxes, one.boxes) << one.json;
    EXPECT_EQ(read.boxes_left_out, one.left_out) << one.json;
  }
}

TEST(HostileSampleJson, damage_is_an_error_with_its_byte) {
  Scratch scratch;
  for (const std::string_view json :
       {"", "{", R"({"label": )", R"({"a": 1} x)", "\xff", R"({"a": "\xff"})"}) {
    expect_error([&] { read_sample_json(as_bytes(json), "label", scratch); },
                 {"damaged at its byte"});
  }
  for (const std::string_view json : {"7", "[1]", "null"}) {
    expect_error([&] { read_sample_json(as_bytes(json), "label", scratch); }, {"no object"});
  }
  const std::string deep(100'000, '[');
  expect_error([&] { read_sample_json(as_bytes(deep), "label", scratch); }, {"damaged"});
}

}  // namespace
}  // namespace feedrate::formats
