// The images of ImageNet that trip up tools, from a training tar to a dataset.

#include <gtest/gtest.h>

#include <cstdlib>

#include "converters/convert.h"
#include "converters/pipeline/join.h"
#include "formats/codecs/jpeg/jpeg.h"
#include "formats/dataset.h"
#include "formats/verify/verify.h"
#include "tests/converters/made_stream.h"
#include "tests/converters/make_archive.h"
#include "tests/converters/make_odd_images.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace feedrate::testing;
namespace fs = std::filesystem;

constexpr Odd kinds[] = {Odd::grey, Odd::cmyk, Odd::turned, Odd::png};
const Image picture = make_image({60, 90, 3}, 3);

/// A training tar of one class, with an image of each kind, in that order.
fs::path write_train_tar(const fs::path& directory) {
  Entries images;
  for (const Odd kind : kinds) {
    const std::string name = "n01440764_" + std::to_string(images.size()) + ".JPEG";
    images.emplace_back(name, as_text(odd_image(kind, picture)));
  }
  return write(directory / "train.tar", tar({{"n01440764.tar", tar(images)}}));
}

Conversion convert_odd(const TempDirectory& directory, const ConvertOptions& options) {
  return convert_dataset(source("imagenet"), std::vector{write_train_tar(directory.path())},
                         {container("tfrecord"), directory / "out", "train"}, options);
}

/// The mean absolute difference of two images.
double mean_difference(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    sum += std::abs(std::to_integer<int>(a.pixels[i]) - std::to_integer<int>(b.pixels[i]));
  }
  return sum / static_cast<double>(a.pixels.size());
}

TEST(UnitOddImages, a_conversion_keeps_them_as_published) {
  const TempDirectory directory;
  const Conversion made = convert_odd(directory, {});
  EXPECT_EQ(made.samples, std::size(kinds));
  EXPECT_EQ(made.mended, 0U);
  const auto dataset = open_dataset(directory / "out");
  Scratch scratch;
  for (std::size_t i = 0; i < std::size(kinds); ++i) {
    const Sample sample = dataset->read(i, scratch);
    EXPECT_TRUE(std::ranges::equal(sample.bytes, odd_image(kinds[i], picture)));
    const Image decoded = decode_sample(sample);
    EXPECT_EQ(decoded.shape, (Shape{60, 90, kinds[i] == Odd::grey ? 1U : 3U}));
    if (kinds[i] != Odd::grey) {
      EXPECT_LT(mean_difference(decoded, picture), 10);
    }
  }
  EXPECT_TRUE(verify(*dataset, 1).findings.empty());
}

TEST(UnitOddImages, a_conversion_makes_cmyk_and_png_rgb_jpegs_when_asked) {
  const TempDirectory directory;
  const Conversion made = convert_odd(directory, {.fix = Fix::reencode});
  EXPECT_EQ(made.mended, 2U);
  const auto dataset = open_dataset(directory / "out");
  Scratch scratch;
  for (std::size_t i = 0; i < std::size(kinds); ++i) {
    const Sample sample = dataset->read(i, scratch);
    EXPECT_EQ(sample.codec, &jpeg_codec);
    EXPECT_EQ(jpeg_header(sample.bytes).components, kinds[i] == Odd::grey ? 1U : 3U);
    if (kinds[i] != Odd::grey) {
      EXPECT_LT(mean_difference(decode_sample(sample), picture), 10);
    }
  }
}

TEST(UnitOddImages, parts_that_are_joined_note_once_how_many_were_encoded_anew) {
  const TempDirectory directory;
  ConvertOptions options{.shards = 4, .fix = Fix::reencode};
  convert_odd(directory, options);
  fs::rename(directory / "out", directory / "whole");
  for (const std::uint32_t number : {1U, 2U}) {
    options.part = {number, 2};
    EXPECT_EQ(convert_odd(directory, options).mended, 1U);
  }
  EXPECT_EQ(join_parts(directory / "out").mended, 2U);
  EXPECT_EQ(files_of(directory / "out"), files_of(directory / "whole"));
}

}  // namespace
}  // namespace feedrate::converters
