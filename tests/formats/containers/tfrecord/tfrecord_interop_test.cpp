// TFRecords and an index that other tools wrote: read, or refused with the reason.

#include <gtest/gtest.h>

#include "formats/containers/tfrecord/tfrecord_index.h"
#include "formats/io/file.h"
#include "formats/verify/verify.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::data_file;
using testing::decode_sample;
using testing::expect_error;

class InteropTfrecord : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::optional<fs::path> vectors = data_file("vectors/tfrecord");
    if (!vectors) GTEST_SKIP() << "the vectors of other tools are not here (FEEDRATE_DATA)";
    vectors_ = *vectors;
  }
  fs::path vectors_;
};

TEST_F(InteropTfrecord, imagenet_s_schema_is_read_with_labels_names_and_boxes) {
  const fs::path set = vectors_ / "tf_cnn_benchmarks-imagenet-schema";
  for (const char* name : {"train-00000-of-00008", "train-00001-of-00008", "train-00002-of-00008",
                           "train-00003-of-00008", "validation-00000-of-00002"}) {
    const bool train = name[0] == 't';
    const auto dataset = open_dataset(set / name);
    ASSERT_EQ(dataset->size(), 64U) << name;
    EXPECT_EQ(dataset->info().codec, "jpeg");
    Scratch scratch;
    for (std::uint64_t i = 0; i < dataset->size(); ++i) {
      const Sample sample = dataset->read(i, scratch);
      EXPECT_TRUE(sample.name.starts_with(train ? "train_" : "validation_")) << sample.name;
      EXPECT_EQ(sample.boxes.size(), train ? 1U : 0U);
      EXPECT_LT(sample.label, 10) << "synsets that are no wnids: labels as they are";
    }
    const Verification result = verify(*dataset, 2);
    EXPECT_TRUE(result.findings.empty());
    EXPECT_EQ(result.class_counts.size(), 10U);
    dataset->audit([&](const Finding& finding) { ADD_FAILURE() << finding.problem; });
  }
  Scratch scratch;
  const auto first = open_dataset(set / "train-00000-of-00008");
  const Sample sample = first->read(0, scratch);
  EXPECT_EQ(sample.name, "train_0");
  ASSERT_EQ(sample.boxes.size(), 1U);
  EXPECT_NEAR(sample.boxes[0].xmin, 0.2947, 1e-4);
  EXPECT_NEAR(sample.boxes[0].ymin, 0.3000, 1e-4);
  EXPECT_NEAR(sample.boxes[0].xmax, 0.5177, 1e-4);
  EXPECT_NEAR(sample.boxes[0].ymax, 0.7636, 1e-4);
}

TEST_F(InteropTfrecord, a_directory_of_two_unfinished_sets_says_so) {
  expect_error([&] { open_dataset(vectors_ / "tf_cnn_benchmarks-imagenet-schema"); },
               {"several datasets", "train-00000-of-00008 (4 of 8 shards)",
                "validation-00000-of-00002 (1 of 2 shards)"});
}

TEST_F(InteropTfrecord, flowers_of_slim_are_read) {
  const auto dataset =
      open_dataset(vectors_ / "flowers-slim/flowers_validation_00000-of-00005.tfrecord");
  EXPECT_EQ(dataset->size(), 70U);
  EXPECT_EQ(dataset->info().codec, "jpeg");
  EXPECT_EQ(dataset->info().shape, (Shape{275, 320, 3}));
  Scratch scratch;
  EXPECT_EQ(dataset->read(0, scratch).label, 1);
  EXPECT_EQ(dataset->read(1, scratch).label, 4);
  const Verification result = verify(*dataset, 2);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.class_counts.size(), 5U);
  expect_error([&] { open_dataset(vectors_ / "flowers-slim"); },
               {"1 of 5 shards", "missing: flowers_validation_00001-of-00005.tfrecord"});
}

TEST_F(InteropTfrecord, raw_digits_are_read) {
  const auto digits = open_dataset(vectors_ / "nnstudy/demo_mnist-validate.tfrecords");
  EXPECT_EQ(digits->info().codec, "raw");
  EXPECT_EQ(digits->info().shape, (Shape{28, 28, 1}));
  const Verification result = verify(*digits, 2);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.samples, 280U);
  Scratch scratch;
  const Image zero = decode_sample(digits->read(0, scratch));
  const auto at = [&](std::size_t row, std::size_t column) {
    return std::to_integer<int>(zero.pixels[row * 28 + column]);
  };
  EXPECT_EQ(digits->read(0, scratch).label, 0);
  EXPECT_EQ(at(0, 0), 0) << "a digit is dark at its border";
  EXPECT_LT(at(14, 14), 100) << "and a zero in its middle";

  const auto faces = open_dataset(vectors_ / "nnstudy/demo_sex_classify-test.tfrecords");
  EXPECT_EQ(faces->info().shape, (Shape{28, 28, 1}));
  EXPECT_EQ(verify(*faces, 1).samples, 65U);
}

TEST_F(InteropTfrecord, records_that_hold_no_images_are_refused_with_the_reason) {
  const auto refused = [&](const char* name, std::initializer_list<std::string_view> parts) {
    expect_error([&] { open_dataset(vectors_ / "minimal" / name); }, parts);
  };
  refused("azmikamis-train.tfrecords", {"sample 0 (record 0, byte 0)", "images (bytes)", "f1 ("});
  refused("pytorch-data-example.tfrecord",
          {"images (bytes)", "x_byte (bytes)", "x_int (whole numbers)"});
  refused("pytorch-data-sequence_example.tfrecord", {"sample 0", "SequenceExample"});
  refused("grain-raw-bytes.tfrecord", {"sample 0", "no tf.Example"});
}

TEST_F(InteropTfrecord, an_index_of_tfrecord2idx_is_read) {
  const std::optional<fs::path> index = data_file("vectors/dali_index/tfrecord.idx");
  ASSERT_TRUE(index);
  std::string text = read_text(*index);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  text.erase(text.find_last_not_of('\n') + 1);
  const std::string last = text.substr(text.rfind('\n') + 1);
  const std::uint64_t size = std::stoull(last) + std::stoull(last.substr(last.find(' ')));
  const Offsets starts = read_tfrecord_index(*index, size);
  EXPECT_EQ(starts.size(), lines + 1);
  EXPECT_EQ(starts[1], 171504U);
  EXPECT_EQ(starts[2], 553687U);
  expect_error([&] { read_tfrecord_index(*index, size + 1); }, {"does it belong to this file"});
}

}  // namespace
}  // namespace feedrate::formats
