#include "formats/means/mean.h"

#include <gtest/gtest.h>

#include <cmath>

#include "formats/io/file.h"
#include "formats/means/mean_format.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using testing::Example;
using testing::expect_error;
using testing::make_examples;
using testing::make_image;
using testing::TempDirectory;
using testing::write_dataset;

Image flat(Shape shape, std::uint8_t value) {
  return {shape, Buffer(shape.bytes(), std::byte{value})};
}

DatasetMeans means_of(const std::vector<Image>& images) {
  MeanSums sums;
  for (const Image& image : images) sums.add(image);
  return sums.means();
}

TEST(UnitMean, two_images_have_the_mean_and_deviation_that_paper_gives) {
  Image first = flat({1, 2, 3}, 10);
  Image second = flat({1, 2, 3}, 20);
  second.pixels[0] = std::byte{60};  // red of the first pixel: 10, 60; of the second: 10, 20
  const DatasetMeans means = means_of({first, second});
  EXPECT_EQ(means.images, 2U);
  EXPECT_EQ(means.channels, 3U);
  EXPECT_EQ(means.mean, (std::array<double, 3>{25, 15, 15}));
  EXPECT_DOUBLE_EQ(means.deviation[0],
                   std::sqrt((10 * 10 + 60 * 60 + 10 * 10 + 20 * 20) / 4.0 - 625));
  EXPECT_EQ(means.deviation[1], 5);
  ASSERT_TRUE(means.mean_image);
  EXPECT_EQ(means.mean_image->shape, (Shape{1, 2, 3}));
  EXPECT_EQ(means.mean_image->values, (std::vector<double>{35, 15, 15, 15, 15, 15}));
}

TEST(UnitMean, channels_agree_with_a_plain_loop_over_pixels) {
  // More pixels than the lanes hold at once would need 3 MB; odd sizes leave a remainder.
  std::vector<Image> images;
  for (std::uint32_t i = 0; i < 3; ++i) images.push_back(make_image({1100 + i, 1013, 3}, i));
  std::array<double, 3> sum{}, squares{};
  double pixels = 0;
  for (const Image& image : images) {
    for (std::size_t i = 0; i < image.pixels.size(); ++i) {
      const double value = std::to_integer<int>(image.pixels[i]);
      sum[i % 3] += value;
      squares[i % 3] += value * value;
    }
    pixels += static_cast<double>(image.pixels.size() / 3);
  }
  const DatasetMeans means = means_of(images);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(means.mean[c], sum[c] / pixels);
    EXPECT_NEAR(means.deviation[c], std::sqrt(squares[c] / pixels - means.mean[c] * means.mean[c]),
                1e-9);
  }
  EXPECT_FALSE(means.mean_image) << "sizes differ";
}

TEST(UnitMean, the_brightest_pixels_overflow_nothing) {
  const DatasetMeans means = means_of({flat({2048, 2048, 1}, 255), flat({2048, 2048, 1}, 255)});
  EXPECT_EQ(means.mean[0], 255);
  EXPECT_EQ(means.deviation[0], 0);
}

TEST(UnitMean, grey_among_colours_counts_as_equal_channels) {
  const DatasetMeans means = means_of({flat({4, 4, 1}, 10), flat({4, 4, 3}, 30)});
  EXPECT_EQ(means.channels, 3U);
  EXPECT_EQ(means.mean, (std::array<double, 3>{20, 20, 20}));
  ASSERT_TRUE(means.mean_image);
  EXPECT_EQ(means.mean_image->values, std::vector<double>(48, 20));
}

TEST(UnitMean, sums_merged_in_any_order_give_the_same_bits) {
  std::vector<MeanSums> parts(3);
  MeanSums all;
  for (std::uint32_t i = 0; i < 30; ++i) {
    const Image image = make_image({9, 7, i % 4 == 0 ? 1U : 3U}, i);
    parts[i % 3].add(image);
    all.add(image);
  }
  const DatasetMeans expected = all.means();
  for (const auto& order : {std::array{0, 1, 2}, std::array{2, 0, 1}, std::array{1, 2, 0}}) {
    MeanSums merged;
    for (const int part : order) merged.merge(parts[static_cast<std::size_t>(part)]);
    const DatasetMeans means = merged.means();
    EXPECT_EQ(means.mean, expected.mean);
    EXPECT_EQ(means.deviation, expected.deviation);
    EXPECT_EQ(means.mean_image->values, expected.mean_image->values);
  }
  MeanSums other;
  other.add(make_image({9, 8, 3}, 0));
  other.merge(all);
  EXPECT_FALSE(other.means().mean_image);
  EXPECT_EQ(other.means().images, 31U);
}

TEST(UnitMean, a_dataset_has_one_mean_at_any_thread_count) {
  TempDirectory temporary;
  write_dataset(container("lmdb"), raw_codec, temporary / "set", make_examples({8, 9, 3}, 700));
  const auto dataset = open_dataset(temporary / "set");
  const DatasetMeans expected = dataset_means(*dataset, 1);
  EXPECT_EQ(expected.images, 700U);
  for (const unsigned threads : {2U, 5U}) {
    std::uint64_t last = 0;
    const DatasetMeans means =
        dataset_means(*dataset, threads, [&](std::uint64_t done, std::uint64_t) { last = done; });
    EXPECT_EQ(last, 700U);
    EXPECT_EQ(means.mean, expected.mean);
    EXPECT_EQ(means.deviation, expected.deviation);
    EXPECT_EQ(means.mean_image->values, expected.mean_image->values);
  }
}

TEST(UnitMean, a_damaged_sample_is_named) {
  TempDirectory temporary;
  write_dataset(container("png-map"), png_codec, temporary / "set", make_examples({8, 9, 3}, 5));
  std::filesystem::resize_file(temporary / "set/train/00003.png", 60);
  expect_error([&] { dataset_means(*open_dataset(temporary / "set"), 3); }, {"sample 3"});
}

TEST(InteropMean, caffe_s_mean_of_imagenet_has_the_well_known_channels) {
  const auto file = testing::data_file("vectors/caffe_mean/imagenet_mean.binaryproto");
  if (!file) GTEST_SKIP() << "needs caffe_mean/imagenet_mean.binaryproto of the real data";
  const MeanImage mean = read_mean(*file);
  ASSERT_EQ(mean.shape, (Shape{256, 256, 3}));
  std::array<double, 3> sum{};
  for (std::size_t i = 0; i < mean.values.size(); ++i) sum[i % 3] += mean.values[i];
  EXPECT_NEAR(sum[0] / 65536, 122.67892, 1e-4);  // red
  EXPECT_NEAR(sum[1] / 65536, 116.66877, 1e-4);
  EXPECT_NEAR(sum[2] / 65536, 104.00699, 1e-4);  // blue
}

TEST(InteropMean, caffe_s_own_files_are_written_again_byte_for_byte) {
  TempDirectory temporary;
  for (const char* name : {"imagenet_mean", "minicaffe_coiss384Mean"}) {
    const auto file = testing::data_file(join("vectors/caffe_mean/", name, ".binaryproto"));
    if (!file) GTEST_SKIP() << "needs vectors/caffe_mean of the real data";
    write_mean(temporary / "mean.binaryproto", read_mean(*file));
    EXPECT_EQ(read_text(temporary / "mean.binaryproto"), read_text(*file)) << name;
  }
}

}  // namespace
}  // namespace feedrate::formats
