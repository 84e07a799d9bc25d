// JPEGs decoded at a half, a quarter or an eighth of their size where a crop allows it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "formats/codecs/jpeg/jpeg.h"
#include "formats/containers/webdataset/tar_index.h"
#include "formats/io/mapped_file.h"
#include "loader/pixels/render.h"
#include "loader/pixels/shrunk.h"
#include "tests/loader/batches.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::loader {
using namespace formats;

namespace {

std::unique_ptr<Dataset> dataset_of(const std::filesystem::path& path, const Codec& codec) {
  std::vector<testing::Example> examples;
  for (std::uint32_t i = 0; i < 6; ++i) {
    examples.push_back({testing::make_image({460 + 130 * i, 900 - 100 * i, 3}, i), 0, {}});
  }
  testing::write_dataset(container("lmdb"), codec, path, examples);
  return open_dataset(path);
}

LoaderOptions scaled_options(unsigned threads) {
  return {.threads = threads, .batch = 4, .epochs = 2, .decoded = DecodedSize::scaled};
}

TEST(UnitScaled, batches_are_the_same_at_any_number_of_threads_and_not_those_of_full_size) {
  const testing::TempDirectory directory;
  const auto dataset = dataset_of(directory.path() / "lmdb", jpeg_codec);
  for (const char* name : {"imagenet-train", "imagenet-eval"}) {
    const Recipe& how = recipe(name);
    LoaderOptions full = scaled_options(0);
    full.decoded = DecodedSize::full;
    const auto expected = testing::digests(*dataset, how, scaled_options(0));
    EXPECT_NE(testing::digests(*dataset, how, full), expected);
    for (const unsigned threads : {1U, 2U, 4U, 8U}) {
      EXPECT_EQ(testing::digests(*dataset, how, scaled_options(threads)), expected) << name;
    }
  }
}

TEST(UnitScaled, images_that_were_shrunk_are_counted) {
  const testing::TempDirectory directory;
  const auto dataset = dataset_of(directory.path() / "lmdb", jpeg_codec);
  LoaderOptions options = scaled_options(2);
  Loader loader(*dataset, recipe("imagenet-eval"), options);
  while (loader.next() != nullptr) continue;
  // The shorter side of three of the six is at least twice 256 pixels, in each of two epochs.
  EXPECT_EQ(loader.stats().shrunk, 6U);
  options.decoded = DecodedSize::full;
  Loader whole(*dataset, recipe("imagenet-eval"), options);
  while (whole.next() != nullptr) continue;
  EXPECT_EQ(whole.stats().shrunk, 0U);
}

TEST(UnitScaled, what_cannot_be_decoded_scaled_is_refused) {
  const testing::TempDirectory directory;
  const auto png = dataset_of(directory.path() / "png", png_codec);
  const auto jpeg = dataset_of(directory.path() / "jpeg", jpeg_codec);
  testing::expect_error([&] { Loader(*png, recipe("imagenet-train"), scaled_options(0)); },
                        {"only JPEGs", "png"});
  testing::expect_error([&] { Loader(*jpeg, recipe("none"), scaled_options(0)); },
                        {"recipe none", "smaller"});
  EXPECT_TRUE(shrinks(recipe("imagenet-train")));
  EXPECT_TRUE(shrinks(recipe("imagenet-eval")));
  for (const char* name : {"none", "mnist", "cifar-train"}) EXPECT_FALSE(shrinks(recipe(name)));
}

Buffer shown(const View& view, Bytes jpeg, Shape shape, std::uint32_t shrunk) {
  const Rect part = needed_part(view, shape, shrunk);
  Buffer memory;
  const PixelRows rows = shrunk == 1 ? decode_jpeg_part(jpeg, shape, part, memory)
                                     : decode_shrunk_jpeg_part(jpeg, shape, shrunk, part, memory);
  Renderer renderer;
  Buffer seat(std::size_t{view.window.height} * view.window.width * 3);
  renderer.render(view, shape, rows, 3, seat, shrunk);
  return seat;
}

double psnr(const Buffer& a, const Buffer& b) {  // dB
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double off = std::to_integer<int>(a[i]) - std::to_integer<int>(b[i]);
    sum += off * off;
  }
  return 10 * std::log10(255.0 * 255.0 * static_cast<double>(a.size()) / std::max(sum, 1.0));
}

struct Psnrs {
  std::vector<double> scaled;   // beside decoding in full
  std::vector<double> shifted;  // decoding in full half a shrunk pixel to the right
};

void compare(std::mt19937& random, Bytes jpeg, Shape shape, std::uint32_t shrunk, Psnrs& found) {
  const auto between = [&random](std::uint32_t low, std::uint32_t high) {
    return low + static_cast<std::uint32_t>(random() % (high - low + 1));
  };
  const std::uint32_t half = shrunk / 2;
  Rect crop;
  crop.height = between(shape.height / 2, shape.height);
  crop.width = between(shape.width / 2, shape.width - half);
  crop.y = between(0, shape.height - crop.height);
  crop.x = between(0, shape.width - half - crop.width);
  const std::uint32_t less = between(shrunk * 4, shrunk * 8 - 1);  // quarters of a pixel
  View view = resized_view(crop, crop.height * 4 / less, crop.width * 4 / less);
  ASSERT_GE(possible_shrink(view), shrunk);
  const Buffer whole = shown(view, jpeg, shape, 1);
  found.scaled.push_back(psnr(whole, shown(view, jpeg, shape, shrunk)));
  view.x += static_cast<std::int32_t>(half);
  found.shifted.push_back(psnr(whole, shown(view, jpeg, shape, 1)));
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

TEST(UnitScaled, photographs_look_as_if_decoded_in_full) {
  const auto file = testing::data_file("imagenet/ILSVRC2012_img_train.tar");
  if (!file) GTEST_SKIP() << "no ImageNet here";
  const MappedFile archive(*file);
  std::mt19937 random(4);
  TarWalk classes(archive.bytes());
  TarEntry entry;
  Psnrs found[9];
  for (int photographs = 0; classes.next(entry) && photographs < 30;) {
    const Bytes inner = archive.bytes().subspan(entry.offset, entry.size);
    for (TarWalk walk(inner); walk.next(entry); ++photographs) {
      const Bytes jpeg = inner.subspan(entry.offset, entry.size);
      const JpegHeader header = jpeg_header(jpeg);
      if (header.shape.channels != 3) continue;
      for (const std::uint32_t shrunk : {2U, 4U, 8U}) {
        compare(random, jpeg, header.shape, shrunk, found[shrunk]);
      }
    }
  }
  // Decoding cuts off the frequencies that the filter of the resize would have damped: 42 to 45 dB.
  // A crop that begins half a shrunk pixel beside its place is 10 dB worse.
  for (const std::uint32_t shrunk : {2U, 4U, 8U}) {
    EXPECT_GT(median(found[shrunk].scaled), 39) << "1/" << shrunk;
    EXPECT_GT(median(found[shrunk].scaled), median(found[shrunk].shifted) + 8) << "1/" << shrunk;
  }
}

}  // namespace
}  // namespace feedrate::loader
