// What a conversion does with samples that the format cannot hold in full, or that are damaged.

#include "converters/pipeline/pipeline.h"

#include <gtest/gtest.h>

#include "formats/verify/verify.h"
#include "tests/converters/made_stream.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

const Box box{0.25F, 0.25F, 0.5F, 0.75F};
constexpr std::size_t marked = 5;  // the sample that differs from the others

/// A dataset of ten JPEGs, of which one was changed.
template <class Change>
fs::path write_jpegs(const fs::path& directory, const Change& change,
                     std::string_view format = "webdataset") {
  fs::create_directories(directory);
  const auto writer = container(format).create(directory, {.codec = &jpeg_codec});
  Buffer jpeg;
  for (std::uint32_t i = 0; i < 10; ++i) {
    const Image image = make_image({32, 48, 3}, i);
    jpeg_codec.encode(image, jpeg);
    Sample sample{.bytes = jpeg, .codec = &jpeg_codec, .shape = image.shape};
    if (i == marked) change(sample);
    writer->add(sample);
  }
  writer->finish(nullptr);
  return directory;
}

/// The same in RecordIO, one with a list of labels.
void write_records(const fs::path& directory, const std::vector<float>& labels,
                   std::int32_t label) {
  const auto change = [&](Sample& sample) {
    sample.labels = labels;
    sample.label = label;
  };
  write_jpegs(directory, change, "recordio");
}

Conversion convert_jpegs(const fs::path& from, const Container& to, const fs::path& out,
                         const ConvertOptions& options = {}) {
  return convert_dataset(source("dataset"), std::vector{from}, {to, out, "train"}, options);
}

class ConformancePipeline : public ::testing::TestWithParam<const Container*> {};

TEST_P(ConformancePipeline, boxes_are_kept_or_refused_or_left_out_as_asked) {
  const TempDirectory directory;
  const fs::path in = write_jpegs(directory / "in", [](Sample& s) { s.boxes = {&box, 1}; });
  if (GetParam()->holds_boxes()) {
    convert_jpegs(in, *GetParam(), directory / "out");
    Scratch scratch;
    const Sample sample = open_dataset(directory / "out")->read(marked, scratch);
    ASSERT_EQ(sample.boxes.size(), 1U);
    EXPECT_EQ(sample.boxes[0], box);
  } else {
    expect_error(
        [&] { convert_jpegs(in, *GetParam(), directory / "out", {.on_bad = OnBad::skip}); },
        {"sample 5", "has bounding boxes", std::string(GetParam()->name()), "--no-boxes"});
    EXPECT_FALSE(fs::exists(directory / "out"));
  }
  const Conversion made = convert_jpegs(in, *GetParam(), directory / "without", {.no_boxes = true});
  EXPECT_EQ(made.samples, 10U);
  EXPECT_EQ(read_sidecar(directory / "without")->options, (std::vector<std::string>{"--no-boxes"}));
  const auto without = open_dataset(directory / "without");
  Scratch scratch;
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_TRUE(without->read(i, scratch).boxes.empty());
}

TEST_P(ConformancePipeline, lists_of_labels_are_kept_or_refused_or_cut_as_asked) {
  const TempDirectory directory;
  const std::vector<std::pair<std::vector<float>, std::int32_t>> cases{{{3, 7, 9}, 3},
                                                                       {{2.5F, 7}, -1}};
  for (const auto& [labels, label] : cases) {
    const fs::path in = directory / join("in", label), out = directory / join("out", label);
    write_records(in, labels, label);
    if (GetParam()->holds_label_lists()) {
      if (label < 0 && GetParam()->name() == "webdataset") continue;  // it needs a class, too
      convert_jpegs(in, *GetParam(), out);
      Scratch scratch;
      const Sample sample = open_dataset(out)->read(marked, scratch);
      EXPECT_EQ(std::vector<float>(sample.labels.begin(), sample.labels.end()), labels);
    } else {
      expect_error(
          [&] { convert_jpegs(in, *GetParam(), out, {.on_bad = OnBad::skip}); },
          {"sample 5", "has a list of labels (", std::string(GetParam()->name()), "--one-label"});
      EXPECT_FALSE(fs::exists(out));
    }
    const fs::path cut = directory / join("cut", label);
    if (label < 0) {
      expect_error([&] { convert_jpegs(in, *GetParam(), cut, {.one_label = true}); },
                   {"sample 5", "negative"});
      continue;
    }
    const Conversion made = convert_jpegs(in, *GetParam(), cut, {.one_label = true});
    EXPECT_EQ(made.samples, 10U);
    EXPECT_EQ(made.notes, (std::vector<std::string>{"1 list of labels was cut to the class"}));
    EXPECT_EQ(read_sidecar(cut)->notes, made.notes);
    EXPECT_EQ(read_sidecar(cut)->options, (std::vector<std::string>{"--one-label"}));
    EXPECT_TRUE(verify(*open_dataset(cut), 1).findings.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(, ConformancePipeline,
                         ::testing::ValuesIn(containers().begin(), containers().end()),
                         [](const auto& parameter) {
                           std::string name(parameter.param->name());
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(HostilePipeline, a_jpeg_that_ends_early_is_not_kept_unless_unchecked) {
  const TempDirectory directory;
  const fs::path in = write_jpegs(directory / "in", [](Sample& sample) {
    sample.bytes = sample.bytes.first(sample.bytes.size() * 3 / 4);
  });
  const Container& to = container("tfrecord");
  expect_error([&] { convert_jpegs(in, to, directory / "out"); }, {"sample 5", "JPEG"});
  const Conversion made = convert_jpegs(in, to, directory / "out", {.on_bad = OnBad::skip});
  EXPECT_EQ(made.samples, 9U);
  ASSERT_EQ(made.skipped.size(), 1U);
  EXPECT_EQ(made.skipped[0].position, marked);
  EXPECT_TRUE(made.checked);
  EXPECT_TRUE(verify(*open_dataset(directory / "out"), 1).findings.empty());
  const Conversion unchecked = convert_jpegs(in, to, directory / "unchecked", {.check = false});
  EXPECT_EQ(unchecked.samples, 10U);
  EXPECT_FALSE(unchecked.checked);
  EXPECT_EQ(read_sidecar(directory / "unchecked")->options,
            (std::vector<std::string>{"--no-check"}));
}

}  // namespace
}  // namespace feedrate::converters
