#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "converters/archive.h"
#include "converters/imagenet/devkit.h"
#include "converters/source.h"
#include "converters/synth.h"
#include "converters/synths/scenes.h"
#include "formats/codec.h"
#include "formats/digests/digest.h"
#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

constexpr const char* files[] = {"ILSVRC2012_devkit_t12.tar.gz", "ILSVRC2012_img_train.tar",
                                 "ILSVRC2012_img_val.tar"};

class UnitSynthImagenet : public ::testing::Test {
 protected:
  static constexpr std::uint64_t images = 150;

  static void SetUpTestSuite() {
    directory_ = std::make_unique<TempDirectory>();
    make_archives(synth("imagenet"), made(), {.images = images, .seed = 5});
  }
  static void TearDownTestSuite() { directory_.reset(); }
  static fs::path made() { return *directory_ / "made"; }
  static std::unique_ptr<SampleStream> open(std::string_view split) {
    return source("imagenet").open(std::vector{made()}, split);
  }

  static std::unique_ptr<TempDirectory> directory_;
};
std::unique_ptr<TempDirectory> UnitSynthImagenet::directory_;

TEST_F(UnitSynthImagenet, no_image_has_the_name_by_which_label_spaces_are_known) {
  const auto val = open("val");
  for (Sample sample; val->next(sample);) EXPECT_NE(sample.name, "ILSVRC2012_val_00000001.JPEG");
}

TEST_F(UnitSynthImagenet, the_source_reads_what_was_made) {
  EXPECT_EQ(source("imagenet").splits(std::vector{made()}),
            (std::vector<std::string>{"train", "val"}));
  std::map<std::int32_t, int> counts;
  const auto train = open("train");
  std::set<std::string> names;
  for (Sample sample; train->next(sample);) {
    ++counts[sample.label];
    EXPECT_TRUE(names.emplace(sample.name).second) << sample.name;
  }
  EXPECT_EQ(counts, (std::map<std::int32_t, int>{{0, 50}, {333, 50}, {666, 50}}));
  EXPECT_EQ(train->info().class_names.texts[0], "tench, Tinca tinca");
  const auto val = open("val");
  EXPECT_EQ(val->info().size, images / 26);
  for (Sample sample; val->next(sample);) {
    EXPECT_TRUE(counts.contains(sample.label));
  }
}

TEST_F(UnitSynthImagenet, the_devkit_is_in_the_published_layout) {
  const Devkit devkit = read_devkit({made() / "ILSVRC2012_devkit_t12.tar.gz"});
  EXPECT_EQ(devkit.val_labels.size(), 50000U);
  const std::set<std::int32_t> labels(devkit.val_labels.begin(), devkit.val_labels.end());
  EXPECT_EQ(labels, (std::set<std::int32_t>{0, 333, 666})) << "those of the training images";
}

TEST_F(UnitSynthImagenet, the_validation_tar_is_not_in_the_order_of_names) {
  Archive archive(made() / "ILSVRC2012_img_val.tar");
  std::vector<std::string> names;
  while (archive.next()) names.push_back(archive.name());
  EXPECT_EQ(names.size(), 5U);
  EXPECT_FALSE(std::ranges::is_sorted(names));
}

TEST_F(UnitSynthImagenet, the_images_are_as_large_as_photographs) {
  std::uint64_t bytes = 0;
  std::set<std::pair<std::uint32_t, std::uint32_t>> sizes;
  const auto train = open("train");
  for (Sample sample; train->next(sample);) {
    EXPECT_TRUE(sample.name.ends_with(".JPEG"));
    const Shape shape = jpeg_codec.shape(sample.bytes);
    EXPECT_EQ(shape.channels, 3U);
    Buffer pixels(shape.bytes());
    jpeg_codec.decode(sample.bytes, shape, pixels);
    sizes.emplace(shape.height, shape.width);
    bytes += sample.bytes.size();
  }
  EXPECT_GT(sizes.size(), images / 4);
  EXPECT_NEAR(static_cast<double>(bytes) / images, 100e3, 15e3) << "a tenth of a megabyte each";
}

TEST(UnitSynthImagenetFiles, a_seed_decides_every_byte) {
  const TempDirectory directory;
  const auto digests = [&](const char* name, std::uint64_t seed) {
    make_archives(synth("imagenet"), directory / name, {.images = 30, .seed = seed});
    std::vector<std::string> all;
    for (const char* file : files) all.push_back(file_hash(directory / name / file));
    return all;
  };
  const auto first = digests("a", 7), again = digests("b", 7), other = digests("c", 8);
  EXPECT_EQ(first, again);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NE(first[i], other[i]) << files[i];
}

TEST(UnitSynthImagenetFiles, few_images_are_enough) {
  for (const std::uint64_t images : {1U, 2U, 3U}) {
    const TempDirectory directory;
    make_archives(synth("imagenet"), directory / "made", {.images = images});
    const std::vector inputs{directory / "made"};
    for (const char* split : {"train", "val"}) {
      const auto stream = source("imagenet").open(inputs, split);
      std::uint64_t count = 0;
      for (Sample sample; stream->next(sample);) ++count;
      EXPECT_EQ(count, std::string_view(split) == "train" ? images : 1);
    }
  }
}

// The same pixels on every machine, with any compiler and options.
TEST(UnitScenes, the_pixels_are_the_same_on_every_machine) {
  const Shape shape{120, 160, 3};
  Buffer pixels(shape.bytes());
  Hasher hasher;
  for (unsigned label = 0; label < scene_classes; label += 37) {
    Draws draws(1, 2, label);
    draw_scene(look_of(label), draws, shape, pixels);
    hasher.add(pixels);
  }
  EXPECT_EQ(hex(hasher.finish()),
            "1f6d2eb194c2247efed5be89c4628a2b9ab5022ca56954e4d2049d4133c86596");
}

// Learnable, but not trivially: the nearest class mean of thumbnails does better
// than chance and much worse than a network would.
TEST(UnitScenes, classes_can_be_told_apart_but_not_trivially) {
  constexpr std::size_t classes = 20, training = 30, testing = 10, side = 16;
  using Thumbnail = std::array<float, side * side * 3>;
  const Shape shape{90, 120, 3};
  Buffer pixels(shape.bytes());
  const auto thumbnail = [&](std::size_t k, std::size_t index) {
    Draws draws(4, k, index);
    draw_scene(look_of(static_cast<unsigned>(k * scene_classes / classes)), draws, shape, pixels);
    Thumbnail small{};
    for (std::size_t i = 0; i < small.size(); ++i) {
      const std::size_t y = i / 3 / side * shape.height / side;
      const std::size_t x = i / 3 % side * shape.width / side;
      small[i] = static_cast<float>(pixels[(y * shape.width + x) * 3 + i % 3]);
    }
    return small;
  };
  std::vector<Thumbnail> means(classes);
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t index = 0; index < training; ++index) {
      const Thumbnail small = thumbnail(k, index);
      for (std::size_t i = 0; i < small.size(); ++i) means[k][i] += small[i] / training;
    }
  }
  std::size_t right = 0;
  for (std::size_t k = 0; k < classes; ++k) {
    for (std::size_t index = training; index < training + testing; ++index) {
      const Thumbnail small = thumbnail(k, index);
      const auto distance = [&](const Thumbnail& mean) {
        return std::transform_reduce(small.begin(), small.end(), mean.begin(), 0.0F, std::plus{},
                                     [](float a, float b) { return (a - b) * (a - b); });
      };
      const auto nearest = std::ranges::min_element(means, {}, distance);
      right += static_cast<std::size_t>(nearest - means.begin()) == k ? 1 : 0;
    }
  }
  const double share = static_cast<double>(right) / (classes * testing);
  RecordProperty("nearest_mean_accuracy", std::to_string(share));
  EXPECT_GT(share, 2.0 / classes) << "twice what guessing gives";
  EXPECT_LT(share, 0.6);
}

TEST(HostileSynthImagenet, no_images_and_too_many_are_refused) {
  const TempDirectory directory;
  for (const std::uint64_t images : {0U, 1'300'001U}) {
    expect_error([&] { make_archives(synth("imagenet"), directory / "made", {.images = images}); },
                 {"cannot make " + std::to_string(images), "from 1 to 1300000"});
    EXPECT_FALSE(fs::exists(directory / "made"));
  }
}

}  // namespace
}  // namespace feedrate::converters
