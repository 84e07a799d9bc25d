#include "formats/containers/mds/mds_image.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "formats/container.h"
#include "tests/support/expect_error.h"
#include "tests/support/make_mds.h"
#include "tests/support/sample_images.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using Values = std::vector<unsigned>;

Buffer bytes_of(std::initializer_list<unsigned> values) {
  Buffer all;
  for (const unsigned value : values) all.push_back(static_cast<std::byte>(value));
  return all;
}

/// u32 width, height, size of the mode | mode | pixels.
Buffer pillow(std::uint32_t width, std::uint32_t height, std::string_view mode,
              std::initializer_list<unsigned> pixels) {
  Buffer all;
  append_le(all, width);
  append_le(all, height);
  append_le(all, static_cast<std::uint32_t>(mode.size()));
  append(all, as_bytes(mode));
  append(all, bytes_of(pixels));
  return all;
}

struct Read {
  Shape shape;
  Values pixels;
  bool operator==(const Read&) const = default;
};

Read read(std::string_view encoding, const Buffer& value) {
  Buffer memory;
  Sample sample;
  read_mds_image(encoding, value, memory, sample);
  Buffer pixels(sample.shape.bytes());
  decode(sample, pixels);
  Read found{sample.shape, {}};
  for (const std::byte pixel : pixels) found.pixels.push_back(std::to_integer<unsigned>(pixel));
  return found;
}

// The pixels of Pillow 13's frombytes(…).convert("RGB"), or "L" of 1 and LA.
TEST(UnitMdsImage, pillows_modes_are_what_pillow_makes_of_them) {
  EXPECT_EQ(read("pil", pillow(2, 1, "RGBA", {1, 2, 3, 0, 4, 5, 6, 255})),
            (Read{{1, 2, 3}, {1, 2, 3, 4, 5, 6}}));
  EXPECT_EQ(read("pil", pillow(2, 1, "LA", {7, 0, 8, 255})), (Read{{1, 2, 1}, {7, 8}}));
  EXPECT_EQ(read("pil", pillow(2, 1, "CMYK", {0, 100, 255, 0, 10, 20, 30, 128})),
            (Read{{1, 2, 3}, {255, 155, 0, 122, 117, 112}}));
  EXPECT_EQ(read("pil", pillow(9, 2, "1", {0x80, 0x80, 0x01, 0x00})),
            (Read{{2, 9, 1}, {255, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 255, 0}}));
  expect_error([] { read("pil", pillow(1, 1, "P", {0})); }, {"mode 'P'", "no palette"});
  expect_error(
      [] {
        read("pil", pillow(2, 1, "RGBA", {1, 2, 3}));
      },
      {"3 bytes of pixels", "expected 8"});
}

TEST(UnitMdsImage, arrays_of_bytes_are_pixels_of_their_shape) {
  const Read two{{2, 1, 3}, {1, 2, 3, 4, 5, 6}};
  EXPECT_EQ(read("ndarray:uint8:2,1,3", bytes_of({1, 2, 3, 4, 5, 6})), two);
  EXPECT_EQ(read("ndarray:uint8", bytes_of({3 << 2, 2, 1, 3, 1, 2, 3, 4, 5, 6})), two);
  EXPECT_EQ(read("ndarray", bytes_of({8, 3 << 2 | 1, 2, 0, 1, 0, 3, 0, 1, 2, 3, 4, 5, 6})), two);
  EXPECT_EQ(read("ndarray:uint8:3,1,2", bytes_of({1, 4, 2, 5, 3, 6})),
            (Read{{1, 2, 3}, {1, 2, 3, 4, 5, 6}}))
      << "planes";
  EXPECT_EQ(read("ndarray:uint8:2,2", bytes_of({1, 2, 3, 4})), (Read{{2, 2, 1}, {1, 2, 3, 4}}));
  expect_error([] { read("ndarray", bytes_of({9, 4, 1, 1})); }, {"another type than uint8"});
  expect_error([] { read("ndarray:uint8:2,2,2", bytes_of({1})); }, {"2 × 2 × 2"});
  expect_error(
      [] {
        read("ndarray:uint8", bytes_of({3 << 2, 2}));
      },
      {"shape takes 1 bytes, 0 are left"});
  expect_error([] { read("ndarray:uint8:2,2", bytes_of({1})); },
               {"1 bytes of pixels", "expected 4"});
}

TEST(UnitMdsImage, a_list_of_one_image_is_an_image) {
  Buffer png, one, listed;
  const Image image = testing::make_image({4, 4, 3}, 1);
  png_codec.encode(image, png);
  append_le(one, std::uint32_t{1});
  append_le(one, static_cast<std::uint32_t>(png.size()));
  append(one, png);
  append_le(listed, std::uint32_t{0});
  append(listed, one);
  EXPECT_EQ(read("jpeg_array", one), read("png", png));
  EXPECT_EQ(read("list[png]", listed), read("png", png));
  one[0] = std::byte{2};
  expect_error([&] { read("jpegarray", one); }, {"2 images in a list"});
}

TEST(UnitMdsImage, datasets_have_such_columns) {
  const testing::TempDirectory root;
  testing::make_mds(root / "set", {{{"\x0c\x02\x01\x03pixels", 4}}}, testing::MdsLabels::numbers,
                    "ndarray:uint8");
  const auto dataset = open_dataset(root / "set");
  EXPECT_EQ(dataset->info().shape, (Shape{2, 1, 3}));
  EXPECT_EQ(dataset->info().codec, "raw");
  Scratch scratch;
  EXPECT_EQ(dataset->read(0, scratch).label, 4);
  testing::make_mds(root / "rgba",
                    {{{std::string(as_text(pillow(1, 1, "RGBA", {9, 8, 7, 0}))), 4}}},
                    testing::MdsLabels::numbers, "pil");
  EXPECT_EQ(as_text(open_dataset(root / "rgba")->read(0, scratch).bytes), "\x09\x08\x07");
}

}  // namespace
}  // namespace feedrate::formats
