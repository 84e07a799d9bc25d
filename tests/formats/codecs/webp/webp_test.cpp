#include <gtest/gtest.h>

#include <random>

#include "formats/container.h"
#include "formats/encoding.h"
#include "tests/support/expect_error.h"
#include "tests/support/fenced_bytes.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"
#include "tests/support/webp_images.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using testing::make_animated_webp;
using testing::make_image;
using testing::make_webp;
using testing::WebpKind;

const WebpKind kinds[] = {
    {.lossless = true},
    {.lossless = true, .alpha = true},
    {.quality = 90, .filter = 0},
    {.quality = 20, .strength = 100},
    {.quality = 60, .filter = 0, .strength = 100},
    {.quality = 75, .strength = 0},
    {.quality = 75, .alpha = true},
};

Image decoded(Bytes encoded) {
  Image image{webp_codec.shape(encoded), {}};
  image.pixels.resize(image.shape.bytes());
  webp_codec.decode(encoded, image.shape, image.pixels);
  return image;
}

TEST(UnitWebp, lossless_images_give_their_pixels_and_drop_alpha) {
  for (const Shape shape : {Shape{1, 1, 3}, {7, 5, 3}, {64, 80, 3}}) {
    const Image image = make_image(shape, 3);
    for (const bool alpha : {false, true}) {
      const Buffer webp = make_webp(image, {.lossless = true, .alpha = alpha});
      EXPECT_EQ(&codec_for(webp), &webp_codec);
      EXPECT_EQ(decoded(webp).shape, shape);
      EXPECT_EQ(decoded(webp).pixels, image.pixels) << "alpha " << alpha;
    }
  }
}

TEST(UnitWebp, lossy_images_stay_near_their_pixels) {
  const Image image = make_image({60, 70, 3}, 5);
  const Image flat{{60, 70, 3}, Buffer(image.pixels.size(), std::byte{90})};
  for (const bool alpha : {false, true}) {
    const Image read = decoded(make_webp(flat, {.quality = 90, .alpha = alpha}));
    for (const std::byte pixel : read.pixels) {
      ASSERT_NEAR(std::to_integer<int>(pixel), 90, 3);
    }
  }
}

TEST(UnitWebp, any_part_has_the_pixels_of_the_whole) {
  std::mt19937 random(7);
  for (const WebpKind& kind : kinds) {
    for (const Shape shape : {Shape{97, 120, 3}, {33, 18, 3}, {2, 3, 3}}) {
      const Buffer webp = make_webp(make_image(shape, 11), kind);
      const Image whole = decoded(webp);
      Buffer memory;
      for (int i = 0; i < 60; ++i) {
        const auto y = static_cast<std::uint32_t>(random() % shape.height);
        const auto x = static_cast<std::uint32_t>(random() % shape.width);
        const Rect part{y, x, 1 + static_cast<std::uint32_t>(random() % (shape.height - y)),
                        1 + static_cast<std::uint32_t>(random() % (shape.width - x))};
        const PixelRows rows = webp_codec.decode_part(webp, shape, part, memory);
        const PixelRows expected = rows_of_part(whole.pixels.data(), shape, part);
        for (std::uint32_t row = 0; row < part.height; ++row) {
          ASSERT_EQ(std::memcmp(rows.first + row * rows.stride,
                                expected.first + row * expected.stride, part.width * 3U),
                    0)
              << "row " << row << " of " << part.height << "x" << part.width << " at " << y << ","
              << x << " of " << shape.height << "x" << shape.width;
        }
      }
    }
  }
}

TEST(UnitWebp, it_is_not_an_encoding) {
  EXPECT_FALSE(webp_codec.encodes());
  expect_error([] { parse_encoding("webp"); }, {"webp", "keep, raw, png, jpeg, packed"});
}

TEST(UnitWebp, every_format_that_accepts_it_keeps_its_bytes) {
  const testing::TempDirectory directory;
  const Buffer webp = make_webp(make_image({24, 30, 3}, 2), {.quality = 70});
  int tried = 0;
  for (const Container* container : containers()) {
    if (!container->accepts(webp_codec)) continue;
    ++tried;
    const auto path = directory.path() / container->name();
    std::filesystem::create_directories(path);
    const std::unique_ptr<Writer> writer = container->create(path, {.codec = &webp_codec});
    Sample sample;
    sample.bytes = webp;
    sample.codec = &webp_codec;
    sample.shape = {24, 30, 3};
    sample.name = "a/b.webp";
    writer->add(sample);
    const MeanImage mean;
    writer->finish(container->wants_mean() ? &mean : nullptr);
    const std::unique_ptr<Dataset> dataset = open_dataset(path);
    EXPECT_EQ(dataset->info().codec, "webp") << container->name();
    Scratch scratch;
    const Sample read = dataset->read(0, scratch);
    EXPECT_EQ(read.codec, &webp_codec) << container->name();
    EXPECT_EQ(Buffer(read.bytes.begin(), read.bytes.end()), webp) << container->name();
  }
  EXPECT_GE(tried, 6);
}

TEST(HostileWebp, animations_are_refused_with_the_reason) {
  expect_error([] { webp_codec.shape(make_animated_webp()); }, {"animated WebP", "many pictures"});
}

TEST(HostileWebp, a_file_cut_off_anywhere_is_refused) {
  for (const WebpKind& kind : kinds) {
    const Buffer webp = make_webp(make_image({20, 20, 3}, 1), kind);
    for (std::size_t size = 12; size < webp.size(); size += 1 + size / 9) {
      const testing::FencedBytes cut(Bytes(webp).first(size), testing::Fence::behind);
      expect_error([&] { decoded(cut.bytes()); }, {"WebP", "truncated"});
    }
  }
}

// Adobe's programs put XMP there.
TEST(UnitWebp, what_follows_the_image_is_ignored) {
  for (const WebpKind& kind : kinds) {
    const Buffer webp = make_webp(make_image({20, 20, 3}, 1), kind);
    for (const std::string_view behind : {"XMP \2", "\n", "RIFF"}) {
      Buffer longer = webp;
      append(longer, as_bytes(behind));
      EXPECT_EQ(decoded(longer).pixels, decoded(webp).pixels);
    }
  }
}

TEST(HostileWebp, forged_sizes_and_bits_are_refused_or_give_an_image) {
  std::mt19937 random(3);
  for (const WebpKind& kind : kinds) {
    const Buffer webp = make_webp(make_image({20, 20, 3}, 1), kind);
    for (int i = 0; i < 300; ++i) {
      Buffer forged = webp;
      forged[4 + random() % (i % 3 == 0 ? 30 : forged.size() - 4)] =
          static_cast<std::byte>(random());
      const testing::FencedBytes fenced(forged, testing::Fence::behind);
      try {
        const Shape shape = webp_codec.shape(fenced.bytes());
        if (shape.bytes() > 1U << 20) continue;
        decoded(fenced.bytes());
      } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("WebP"), std::string::npos) << error.what();
      }
    }
  }
}

TEST(HostileWebp, an_image_of_another_size_than_stated_is_refused) {
  const Buffer webp = make_webp(make_image({20, 20, 3}, 1));
  Buffer pixels(21 * 20 * 3);
  expect_error([&] { webp_codec.decode(webp, {21, 20, 3}, pixels); }, {"21x20x3", "20x20x3"});
}

}  // namespace
}  // namespace feedrate::formats
