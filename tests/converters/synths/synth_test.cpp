#include "converters/synth.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "converters/source.h"
#include "formats/digests/digest.h"
#include "formats/io/file.h"
#include "tests/converters/made_stream.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

constexpr const char* names[] = {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
                                 "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"};

std::string all_files(const fs::path& directory) {
  std::string all;
  for (const char* name : names) all += read_text(directory / name);
  return all;
}

struct Digit {
  int label;
  std::array<float, 784> pixels;
};

std::vector<Digit> digits(const fs::path& directory, std::string_view split) {
  const auto stream = source("mnist").open(std::vector{directory}, split);
  std::vector<Digit> all;
  Sample sample;
  while (stream->next(sample)) {
    Digit& digit = all.emplace_back(Digit{sample.label, {}});
    std::ranges::transform(sample.bytes, digit.pixels.begin(),
                           [](std::byte b) { return static_cast<float>(b); });
  }
  return all;
}

TEST(UnitSynth, the_source_reads_what_was_made) {
  const TempDirectory directory;
  make_archives(synth("mnist"), directory / "made", {.images = 600, .seed = 3});
  EXPECT_EQ(digits(directory / "made", "train").size(), 600U);
  EXPECT_EQ(digits(directory / "made", "test").size(), 100U);
  EXPECT_FALSE(fs::exists(directory / "made.partial"));
}

TEST(UnitSynth, one_image_still_gets_a_test_image) {
  const TempDirectory directory;
  make_archives(synth("mnist"), directory / "made", {.images = 1});
  EXPECT_EQ(digits(directory / "made", "test").size(), 1U);
}

TEST(UnitSynth, a_seed_decides_every_byte) {
  const TempDirectory directory;
  make_archives(synth("mnist"), directory / "a", {.images = 3000, .seed = 7});
  make_archives(synth("mnist"), directory / "b", {.images = 3000, .seed = 7});
  make_archives(synth("mnist"), directory / "c", {.images = 3000, .seed = 8});
  EXPECT_TRUE(all_files(directory / "a") == all_files(directory / "b"));
  EXPECT_FALSE(all_files(directory / "a") == all_files(directory / "c"));
}

TEST(UnitSynth, every_digit_comes_about_equally_often) {
  const TempDirectory directory;
  make_archives(synth("mnist"), directory / "made", {.images = 5000});
  std::array<int, 10> counts{};
  for (const Digit& digit : digits(directory / "made", "train")) {
    ++counts[static_cast<std::size_t>(digit.label)];
  }
  for (const int count : counts) EXPECT_NEAR(count, 500, 100);
}

TEST(UnitSynth, the_files_do_not_depend_on_the_number_of_threads) {
  const TempDirectory directory;
  for (const Synth* kind : synths()) {
    const auto made = [&](std::size_t threads) {
      const oneapi::tbb::global_control control(
          oneapi::tbb::global_control::max_allowed_parallelism, threads);
      const fs::path out = directory / join(kind->name(), threads);
      make_archives(*kind, out, {.images = 40});
      return files_of(out);
    };
    const auto files = made(1);
    EXPECT_FALSE(files.empty());
    for (const std::size_t threads : {2, 5}) EXPECT_TRUE(made(threads) == files) << kind->name();
  }
}

// The same pixels on every machine, with any compiler and options.
TEST(UnitSynth, the_pixels_are_the_same_on_every_machine) {
  const TempDirectory directory;
  make_archives(synth("mnist"), directory / "made", {.images = 200, .seed = 1});
  const auto stream = source("mnist").open(std::vector{directory / "made"}, "train");
  Hasher hasher;
  for (Sample sample; stream->next(sample);) hasher.add(sample.bytes);
  EXPECT_EQ(hex(hasher.finish()),
            "69b2587dfc6f8792728cb48bf0015e6a005151bd11c9296746e0cbf89669873d");
}

// Learnable, but not trivially: the nearest class mean does much better than chance
// and much worse than a network.
TEST(UnitSynth, the_digits_are_learnable_but_not_trivial) {
  const TempDirectory directory;
  make_archives(synth("mnist"), directory / "made", {.images = 6000});
  std::array<std::array<float, 784>, 10> means{};
  std::array<float, 10> counts{};
  for (const Digit& digit : digits(directory / "made", "train")) {
    const auto label = static_cast<std::size_t>(digit.label);
    counts[label] += 1;
    for (std::size_t i = 0; i < 784; ++i) means[label][i] += digit.pixels[i];
  }
  const auto distance = [&](const Digit& digit, std::size_t label) {
    float sum = 0;
    for (std::size_t i = 0; i < 784; ++i) {
      const float difference = digit.pixels[i] - means[label][i] / counts[label];
      sum += difference * difference;
    }
    return sum;
  };
  int right = 0;
  const auto test = digits(directory / "made", "test");
  for (const Digit& digit : test) {
    std::size_t best = 0;
    for (std::size_t label = 1; label < 10; ++label) {
      if (distance(digit, label) < distance(digit, best)) best = label;
    }
    right += static_cast<std::size_t>(digit.label) == best;
  }
  const double share = right / static_cast<double>(test.size());
  RecordProperty("nearest_mean_accuracy", std::to_string(share));
  EXPECT_GT(share, 0.4);
  EXPECT_LT(share, 0.85);
}

TEST(HostileSynth, no_images_and_a_name_unknown_are_refused) {
  const TempDirectory directory;
  expect_error([&] { make_archives(synth("mnist"), directory / "made", {.images = 0}); },
               {"cannot make 0 images"});
  EXPECT_FALSE(fs::exists(directory / "made"));
  expect_error([] { synth("mnits"); }, {"mnits", "did you mean mnist?"});
}

}  // namespace
}  // namespace feedrate::converters
