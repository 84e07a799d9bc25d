#include "formats/codecs/packed/packed.h"

#include <array>
#include <random>
#include <thread>

#include "formats/codecs/packed/packed_blocks.h"
#include "formats/containers/webdataset/tar_index.h"
#include "formats/io/byte_stream.h"
#include "formats/io/mapped_file.h"
#include "tests/formats/jpeg_images.h"
#include "tests/support/data.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"

namespace feedrate::formats {
namespace {

using namespace feedrate::testing;

Buffer packed(Bytes jpeg) {
  Buffer record;
  pack_jpeg(jpeg, record);
  return record;
}

// True when the pixels are those that libjpeg makes of the JPEG itself.
bool is_exact(Bytes jpeg) {
  const Image expected = decoded(jpeg);
  const Buffer record = packed(jpeg);
  EXPECT_EQ(packed_codec.shape(record), expected.shape);
  Buffer pixels(expected.pixels.size(), std::byte{0x55});
  packed_codec.decode(record, expected.shape, pixels);
  return pixels == expected.pixels;
}

TEST(UnitPacked, is_known_by_its_first_bytes_and_is_no_jpeg) {
  const Buffer record = packed(jpeg_of(smooth_image({20, 30, 3})));
  EXPECT_EQ(codec_of(record), &packed_codec);
  EXPECT_FALSE(jpeg_codec.knows(record));
  EXPECT_EQ(as_text(record).substr(0, 8), "\x9epacked1");
}

TEST(UnitPacked, gives_the_jpegs_pixels_at_every_quality) {
  for (const int quality : {1, 5, 30, 75, 90, 95, 98, 100}) {
    EXPECT_TRUE(is_exact(jpeg_of(make_image({67, 93, 3}, 1), {.quality = quality}))) << quality;
    EXPECT_TRUE(is_exact(jpeg_of(make_image({67, 93, 1}, 2), {.quality = quality}))) << quality;
  }
}

// Edges between black and white have the largest coefficients.
TEST(UnitPacked, gives_the_jpegs_pixels_where_coefficients_are_large) {
  Image image{{41, 50, 3}, {}};
  for (std::size_t i = 0; i < image.shape.bytes(); ++i) {
    image.pixels.push_back(static_cast<std::byte>((i / 3 + i / 150) % 2 * 255));
  }
  for (const int quality : {100, 90}) {
    EXPECT_TRUE(is_exact(jpeg_of(image, {.quality = quality, .across = 1, .down = 1})));
  }
}

TEST(UnitPacked, smallest_and_narrow_images_are_exact) {
  for (const Shape shape : {Shape{1, 1, 3},
                            {1, 1, 1},
                            {1, 200, 3},
                            {200, 1, 3},
                            {8, 64, 1},
                            {8, 65, 1},
                            {16, 128, 3},
                            {17, 129, 3}}) {
    EXPECT_TRUE(is_exact(jpeg_of(make_image(shape, 3)))) << shape.height << "x" << shape.width;
  }
}

TEST(UnitPacked, colours_are_those_of_the_jpegs_markers) {
  const Shape shape{19, 23, 3};
  const Image image = make_image(shape, 4);
  EXPECT_TRUE(is_exact(jpeg_of(image, {.stored = JCS_RGB, .across = 1, .down = 1})));
  EXPECT_TRUE(is_exact(jpeg_of(image, {.adobe = true})));
  const Buffer inks = make_image({shape.height, shape.width * 4, 1}, 5).pixels;
  for (const J_COLOR_SPACE stored : {JCS_CMYK, JCS_YCCK}) {
    EXPECT_TRUE(is_exact(make_jpeg({.from = JCS_CMYK, .stored = stored}, 23, 19, inks)));
  }
}

TEST(UnitPacked, the_same_jpeg_gives_the_same_bytes_and_progressive_ones_too) {
  const Image image = make_image({50, 70, 3}, 6);
  const Buffer baseline = packed(jpeg_of(image));
  EXPECT_EQ(packed(jpeg_of(image)), baseline);
  EXPECT_EQ(packed(jpeg_of(image, {.progressive = true})), baseline);
  EXPECT_EQ(packed(jpeg_of(image, {.restart = 2})), baseline);
}

TEST(UnitPacked, markers_that_pixels_do_not_need_are_left_out) {
  const Buffer plain = jpeg_of(smooth_image({16, 16, 3}));
  Buffer with = plain;
  insert(with, 2,
         std::string_view("\xff\xfe\x00\x0a"
                          "a remark",
                          12));
  EXPECT_EQ(packed(with), packed(plain));
}

TEST(UnitPacked, what_is_no_jpeg_is_packed_as_the_jpeg_of_that_quality) {
  const Image image = make_image({40, 30, 3}, 7);
  for (const int quality : {0, 40}) {
    Buffer jpeg, record;
    jpeg_codec.encode(image, quality, jpeg);
    packed_codec.encode(image, quality, record);
    EXPECT_EQ(record, packed(jpeg));
  }
  EXPECT_TRUE(packed_codec.recodes(jpeg_codec));
  EXPECT_FALSE(packed_codec.recodes(png_codec));
}

TEST(UnitPacked, threads_do_not_disturb_each_other) {
  const Buffer jpeg = jpeg_of(make_image({90, 110, 3}, 8));
  const Buffer record = packed(jpeg);
  const Image expected = decoded(jpeg);
  std::array<Buffer, 4> pixels;
  {
    std::vector<std::jthread> threads;
    for (Buffer& own : pixels) {
      threads.emplace_back([&] {
        own.resize(expected.pixels.size());
        for (int i = 0; i < 50; ++i) packed_codec.decode(record, expected.shape, own);
      });
    }
  }
  for (const Buffer& own : pixels) EXPECT_EQ(own, expected.pixels);
}

TEST(UnitPacked, a_part_is_read_without_what_it_does_not_need) {
  Buffer record = packed(jpeg_of(make_image({400, 400, 3}, 9), {.across = 1, .down = 1}));
  Buffer memory;
  const Rect part{100, 100, 50, 50};
  const PixelRows before = packed_codec.decode_part(record, {400, 400, 3}, part, memory);
  const std::byte first = *before.first;
  record.back() ^= std::byte{1};
  const PixelRows rows = packed_codec.decode_part(record, {400, 400, 3}, part, memory);
  EXPECT_EQ(*rows.first, first);
  EXPECT_THROW(packed_codec.decode_part(record, {400, 400, 3}, {399, 399, 1, 1}, memory), Error);
}

TEST(InteropPacked, every_photograph_of_imagenet_is_packed_without_loss) {
  const auto file = data_file("imagenet/ILSVRC2012_img_train.tar");
  if (!file) GTEST_SKIP() << "the photographs of shared/data are not here";
  const MappedFile archive(*file);
  TarWalk classes(archive.bytes());
  int seen = 0;
  std::size_t jpegs = 0, records = 0;
  for (TarEntry entry; classes.next(entry);) {
    const Bytes inner = archive.bytes().subspan(entry.offset, entry.size);
    TarWalk walk(inner);
    for (TarEntry image; walk.next(image); ++seen) {
      const Bytes jpeg = inner.subspan(image.offset, image.size);
      EXPECT_TRUE(is_exact(jpeg)) << image.name;
      jpegs += jpeg.size();
      records += packed(jpeg).size();
    }
  }
  EXPECT_GT(seen, 200);
  EXPECT_LT(records, jpegs * 3 / 2) << "1.4 times the bytes";
}

}  // namespace
}  // namespace feedrate::formats
