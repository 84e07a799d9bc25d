#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "converters/source.h"
#include "converters/synth.h"
#include "formats/digests/digest.h"
#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

constexpr std::size_t bytes = 32 * 32 * 3;

struct Picture {
  int label;
  std::array<float, bytes> pixels;
};

std::vector<Picture> pictures(const fs::path& directory, std::string_view split) {
  const auto stream = source("cifar10").open(std::vector{directory}, split);
  std::vector<Picture> all;
  for (Sample sample; stream->next(sample);) {
    Picture& picture = all.emplace_back(Picture{sample.label, {}});
    std::ranges::transform(sample.bytes, picture.pixels.begin(),
                           [](std::byte b) { return static_cast<float>(b); });
  }
  return all;
}

TEST(UnitSynthCifar, the_source_reads_what_was_made) {
  const TempDirectory directory;
  for (const std::uint64_t images : {5U, 13U, 601U}) {
    const fs::path made = directory / std::to_string(images);
    make_archives(synth("cifar10"), made, {.images = images, .seed = 3});
    EXPECT_EQ(pictures(made, "train").size(), images);
    EXPECT_EQ(pictures(made, "test").size(), std::max<std::uint64_t>(1, images / 6));
    const auto stream = source("cifar10").open(std::vector{made}, "train");
    EXPECT_EQ(stream->info().class_names.names.at(4), "triangle");
  }
}

TEST(UnitSynthCifar, a_seed_decides_every_byte) {
  const TempDirectory directory;
  const auto made = [&](const char* name, std::uint64_t seed) {
    make_archives(synth("cifar10"), directory / name, {.images = 500, .seed = seed});
    return read_text(directory / name / "cifar-10-binary.tar.gz");
  };
  const std::string first = made("a", 7);
  EXPECT_TRUE(first == made("b", 7));
  EXPECT_FALSE(first == made("c", 8));
}

// The same pixels on every machine, with any compiler and options.
TEST(UnitSynthCifar, the_pixels_are_the_same_on_every_machine) {
  const TempDirectory directory;
  make_archives(synth("cifar10"), directory / "made", {.images = 200, .seed = 1});
  const auto stream = source("cifar10").open(std::vector{directory / "made"}, "train");
  Hasher hasher;
  for (Sample sample; stream->next(sample);) hasher.add(sample.bytes);
  EXPECT_EQ(hex(hasher.finish()),
            "1eb4c690ce7467a75721d43614b6c5d90f57053798052a791f9964ffd98d12ae");
}

// Learnable, but not trivially: the nearest class mean does better than chance and
// much worse than a network.
TEST(UnitSynthCifar, the_shapes_are_even_learnable_and_not_trivial) {
  const TempDirectory directory;
  make_archives(synth("cifar10"), directory / "made", {.images = 3000});
  std::vector<std::array<float, bytes>> means(10);
  std::array<float, 10> counts{};
  for (const Picture& picture : pictures(directory / "made", "train")) {
    const auto label = static_cast<std::size_t>(picture.label);
    counts[label] += 1;
    for (std::size_t i = 0; i < bytes; ++i) means[label][i] += picture.pixels[i];
  }
  for (const float count : counts) EXPECT_NEAR(count, 300, 60);
  const auto distance = [&](const Picture& picture, std::size_t label) {
    float sum = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      const float difference = picture.pixels[i] - means[label][i] / counts[label];
      sum += difference * difference;
    }
    return sum;
  };
  int right = 0;
  const auto test = pictures(directory / "made", "test");
  for (const Picture& picture : test) {
    std::size_t best = 0;
    for (std::size_t label = 1; label < 10; ++label) {
      if (distance(picture, label) < distance(picture, best)) best = label;
    }
    right += static_cast<std::size_t>(picture.label) == best;
  }
  const double share = right / static_cast<double>(test.size());
  RecordProperty("nearest_mean_accuracy", std::to_string(share));
  EXPECT_GT(share, 0.15);
  EXPECT_LT(share, 0.6);
}

TEST(HostileSynthCifar, too_few_and_too_many_images_are_refused) {
  const TempDirectory directory;
  for (const std::uint64_t images : {0U, 4U, 300'001U}) {
    expect_error([&] { make_archives(synth("cifar10"), directory / "made", {.images = images}); },
                 {"cannot make " + std::to_string(images), "from 5 to 300000"});
    EXPECT_FALSE(fs::exists(directory / "made"));
  }
}

}  // namespace
}  // namespace feedrate::converters
