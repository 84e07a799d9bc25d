#include <gtest/gtest.h>
#include <png.h>
#include <zlib.h>

#include <numeric>
#include <random>

#include "formats/base/checksum.h"
#include "formats/codecs/png/plain_png.h"
#include "tests/support/expect_error.h"
#include "tests/support/sample_images.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using testing::make_image;

// Kinds of PNG that other tools write and our encoder does not.
struct Kind {
  int color_type = PNG_COLOR_TYPE_GRAY;
  int depth = 8;
  bool interlaced = false;
  bool with_text = false;
  bool transparent = true;  // the palette's first two colours, or one grey or colour
  int filters = PNG_ALL_FILTERS;
  std::size_t data_chunk = 8192;  // bytes of image data in a chunk, at most
};

void to_buffer(png_structp png, png_bytep from, std::size_t size) {
  append(*static_cast<Buffer*>(png_get_io_ptr(png)),
         {reinterpret_cast<const std::byte*>(from), size});
}

// A PNG of `kind` whose rows are `rows`, packed as PNG stores them.
Buffer make_png(const Kind& kind, std::uint32_t width, std::vector<std::vector<png_byte>> rows) {
  Buffer encoded;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &encoded, to_buffer, nullptr);
  png_set_IHDR(png, info, width, static_cast<png_uint_32>(rows.size()), kind.depth, kind.color_type,
               kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  const png_color palette[] = {{10, 20, 30}, {40, 50, 60}, {70, 80, 90}, {100, 110, 120}};
  const png_byte transparency[] = {0, 128};
  const png_color_16 transparent{0, 1, 1, 1, 1};
  const bool has_palette = kind.color_type == PNG_COLOR_TYPE_PALETTE;
  if (has_palette) png_set_PLTE(png, info, palette, std::min(4, 1 << kind.depth));
  if (has_palette && kind.transparent) png_set_tRNS(png, info, transparency, 2, nullptr);
  const bool may_be_keyed =
      (kind.color_type & (PNG_COLOR_MASK_PALETTE | PNG_COLOR_MASK_ALPHA)) == 0;
  if (may_be_keyed && kind.transparent) png_set_tRNS(png, info, nullptr, 0, &transparent);
  png_set_filter(png, PNG_FILTER_TYPE_BASE, kind.filters);
  png_set_compression_buffer_size(png, kind.data_chunk);
  png_text text{};
  char key[] = "Comment", words[] = "words that are no pixels";
  text.compression = PNG_TEXT_COMPRESSION_NONE;
  text.key = key;
  text.text = words;
  if (kind.with_text) png_set_text(png, info, &text, 1);
  std::vector<png_bytep> pointers;
  for (std::vector<png_byte>& row : rows) pointers.push_back(row.data());
  png_set_rows(png, info, pointers.data());
  png_write_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  png_destroy_write_struct(&png, &info);
  return encoded;
}

std::vector<unsigned> decoded(const Buffer& encoded) {
  const Shape shape = png_codec.shape(encoded);
  Buffer pixels(shape.bytes());
  png_codec.decode(encoded, shape, pixels);
  std::vector<unsigned> numbers;
  for (const std::byte pixel : pixels) numbers.push_back(std::to_integer<unsigned>(pixel));
  return numbers;
}

using Numbers = std::vector<unsigned>;

TEST(UnitPng, palettes_become_rgb_without_their_transparency) {
  const Buffer png = make_png({PNG_COLOR_TYPE_PALETTE, 2}, 3, {{0b00'01'10'00}, {0b11'00'01'00}});
  EXPECT_EQ(png_codec.shape(png), (Shape{2, 3, 3}));
  EXPECT_EQ(decoded(png), (Numbers{10, 20, 30, 40, 50, 60, 70, 80, 90,  //
                                   100, 110, 120, 10, 20, 30, 40, 50, 60}));
}

TEST(UnitPng, palettes_of_every_depth_are_read) {
  for (const bool transparent : {false, true}) {
    const auto indices = [&](int depth, std::vector<png_byte> packed, std::uint32_t width) {
      Kind kind{PNG_COLOR_TYPE_PALETTE, depth};
      kind.transparent = transparent;
      return decoded(make_png(kind, width, {std::move(packed)}));
    };
    const Numbers first_two{40, 50, 60, 10, 20, 30};
    EXPECT_EQ(indices(1, {0b10'000000}, 2), first_two);
    EXPECT_EQ(indices(2, {0b01'00'0000}, 2), first_two);
    EXPECT_EQ(indices(4, {0x10}, 2), first_two);
    EXPECT_EQ(indices(8, {1, 0}, 2), first_two);
  }
}

TEST(UnitPng, few_bits_are_stretched_to_the_full_range) {
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_GRAY, 1}, 3, {{0b10100000}})), (Numbers{255, 0, 255}));
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_GRAY, 2}, 3, {{0b01'10'11'00}})),
            (Numbers{85, 170, 255}));
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_GRAY, 4}, 2, {{0x1f}})), (Numbers{17, 255}));
}

TEST(UnitPng, of_sixteen_bits_the_high_byte_is_kept) {
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_GRAY, 16}, 2, {{0x12, 0xff, 0x80, 0x00}})),
            (Numbers{0x12, 0x80}));
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_RGB, 16}, 1, {{1, 9, 2, 9, 3, 9}})),
            (Numbers{1, 2, 3}));
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_GRAY_ALPHA, 16}, 1, {{8, 9, 1, 1}})), (Numbers{8}));
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_RGB_ALPHA, 16}, 1, {{1, 9, 2, 9, 3, 9, 4, 9}})),
            (Numbers{1, 2, 3}));
}

TEST(UnitPng, alpha_is_dropped) {
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_GRAY_ALPHA, 8}, 2, {{7, 0, 8, 255}})),
            (Numbers{7, 8}));
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_RGB_ALPHA, 8}, 1, {{1, 2, 3, 0}})),
            (Numbers{1, 2, 3}));
}

TEST(UnitPng, interlaced_images_are_put_together) {
  std::vector<std::vector<png_byte>> rows;
  Numbers expected;
  for (unsigned y = 0; y < 9; ++y) {
    rows.emplace_back();
    for (unsigned x = 0; x < 11; ++x) {
      rows.back().push_back(static_cast<png_byte>(20 * y + x));
      expected.push_back(20 * y + x);
    }
  }
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_GRAY, 8, true}, 11, rows)), expected);
  rows = {{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}, {13, 14, 15, 16, 17, 18}};
  expected.resize(18);
  std::iota(expected.begin(), expected.end(), 1U);
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_RGB, 8, true}, 2, rows)), expected);
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_PALETTE, 2, true}, 3, {{0b11'00'01'00}})),
            (Numbers{100, 110, 120, 10, 20, 30, 40, 50, 60}));
}

TEST(UnitPng, what_is_not_pixels_is_skipped) {
  EXPECT_EQ(decoded(make_png({PNG_COLOR_TYPE_GRAY, 8, false, true}, 2, {{5, 6}})), (Numbers{5, 6}));
}

// Rows of an image in the form that make_png takes.
std::vector<std::vector<png_byte>> rows_of(const Image& image) {
  const std::size_t row = std::size_t{image.shape.width} * image.shape.channels;
  const auto* bytes = reinterpret_cast<const png_byte*>(image.pixels.data());
  std::vector<std::vector<png_byte>> rows;
  for (std::size_t y = 0; y < image.shape.height; ++y) {
    rows.emplace_back(bytes + y * row, bytes + (y + 1) * row);
  }
  return rows;
}

Kind kind_of(const Image& image) {
  return {image.shape.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB};
}

TEST(UnitPng, plain_files_of_libpng_take_the_fast_way_whatever_their_filters_and_chunks) {
  for (const Shape shape : {Shape{37, 23, 3}, {40, 31, 1}, {5, 1, 1}, {4, 1, 3}, {1, 2, 1}}) {
    const Image image = make_image(shape, 6);
    for (const int filters : {PNG_FILTER_NONE, PNG_FILTER_SUB, PNG_FILTER_UP, PNG_FILTER_AVG,
                              PNG_FILTER_PAETH, PNG_ALL_FILTERS}) {
      for (const std::size_t data_chunk : {100UL, 8192UL}) {
        Kind kind = kind_of(image);
        kind.filters = filters;
        kind.data_chunk = data_chunk;
        kind.with_text = true;
        Buffer pixels(shape.bytes());
        EXPECT_TRUE(decode_plain_png(make_png(kind, shape.width, rows_of(image)), shape, pixels));
        EXPECT_EQ(pixels, image.pixels);
      }
    }
  }
}

TEST(UnitPng, other_kinds_are_left_to_libpng) {
  Buffer pixels(6);
  const std::vector<std::vector<png_byte>> row{{1, 2, 3, 4, 5, 6}};
  EXPECT_FALSE(
      decode_plain_png(make_png({PNG_COLOR_TYPE_RGB, 8, true}, 2, row), {1, 2, 3}, pixels));
  EXPECT_FALSE(
      decode_plain_png(make_png({PNG_COLOR_TYPE_PALETTE, 8}, 2, {{0, 1}}), {1, 2, 3}, pixels));
  EXPECT_FALSE(decode_plain_png(make_png({PNG_COLOR_TYPE_RGB, 8}, 2, row), {2, 1, 3}, pixels));
}

// What libpng alone decodes from a file.
Image read_by_libpng(const Buffer& encoded) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&png, encoded.data(), encoded.size()), 0);
  const bool grey = (png.format & PNG_FORMAT_FLAG_COLOR) == 0;
  png.format = grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  Image image{{png.height, png.width, grey ? 1U : 3U}, {}};
  image.pixels.resize(image.shape.bytes());
  EXPECT_NE(png_image_finish_read(&png, nullptr, image.pixels.data(), 0, nullptr), 0)
      << png.message;
  return image;
}

// Photographs, drawings, patterns and noise take different paths through the encoder.
std::vector<Image> many_images() {
  std::vector<Image> images;
  std::mt19937 random(12);
  for (const Shape shape : {Shape{32, 32, 3}, {28, 28, 1}, {1, 1, 3}, {3, 200, 1}, {150, 171, 3}}) {
    images.push_back(make_image(shape, 4));
    Image flat{shape, Buffer(shape.bytes(), std::byte{200})}, drawing = flat, noise = flat,
                                                              tiles = flat;
    for (std::size_t i = 0; i < shape.bytes(); ++i) {
      noise.pixels[i] = static_cast<std::byte>(random());
      if (i / 40 % 5 == 0) drawing.pixels[i] = static_cast<std::byte>(i / 200);
    }
    const std::size_t row = std::size_t{shape.width} * shape.channels;
    for (std::size_t i = 0; i < shape.bytes(); ++i) {
      tiles.pixels[i] = noise.pixels[i / row % 8 * row + i % row % (8 * shape.channels)];
    }
    images.insert(images.end(), {flat, drawing, noise, tiles});
  }
  return images;
}

TEST(UnitPng, libpng_reads_what_the_encoder_writes) {
  for (const Image& image : many_images()) {
    Buffer encoded;
    png_codec.encode(image, encoded);
    const Image read = read_by_libpng(encoded);
    EXPECT_EQ(read.shape, image.shape);
    EXPECT_EQ(read.pixels, image.pixels);
    Buffer pixels(image.pixels.size());
    EXPECT_TRUE(decode_plain_png(encoded, image.shape, pixels));
    EXPECT_EQ(pixels, image.pixels);
  }
}

TEST(UnitPng, files_are_no_more_than_a_tenth_larger_than_libpng_s) {
  for (const Image& image : many_images()) {
    Buffer encoded;
    png_codec.encode(image, encoded);
    const Buffer usual = make_png(kind_of(image), image.shape.width, rows_of(image));
    EXPECT_LT(static_cast<double>(encoded.size()), 1.1 * static_cast<double>(usual.size()) + 20)
        << image.shape.height << "x" << image.shape.width << "x" << image.shape.channels;
  }
}

TEST(UnitPng, the_same_pixels_give_the_same_bytes) {
  Buffer first, second;
  png_codec.encode(make_image({32, 32, 3}, 5), first);
  png_codec.encode(make_image({32, 32, 3}, 5), second);
  EXPECT_EQ(first, second);
}

TEST(HostilePng, another_shape_than_asked_for_is_refused) {
  Buffer encoded, pixels(4 * 4);
  png_codec.encode(make_image({4, 5, 1}, 1), encoded);
  expect_error([&] { png_codec.decode(encoded, {4, 4, 1}, pixels); }, {"4x4x1", "4x5x1"});
}

TEST(HostilePng, every_truncation_is_an_error) {
  Buffer encoded;
  const Image image = make_image({9, 9, 3}, 2);
  png_codec.encode(image, encoded);
  Buffer pixels(image.pixels.size());
  for (std::size_t size = 0; size < encoded.size(); ++size) {
    expect_error([&] { png_codec.decode(Bytes(encoded).first(size), image.shape, pixels); }, {""});
  }
}

TEST(HostilePng, every_flipped_bit_is_an_error_or_changes_nothing) {
  Buffer encoded;
  const Image image = make_image({6, 5, 1}, 3);
  png_codec.encode(image, encoded);
  for (std::size_t bit = 0; bit < 8 * encoded.size(); ++bit) {
    Buffer damaged = encoded;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    Buffer pixels(image.pixels.size());
    try {
      png_codec.decode(damaged, image.shape, pixels);
    } catch (const Error&) {
      continue;
    }
    EXPECT_EQ(pixels, image.pixels) << "bit " << bit;
  }
}

void append_chunk(Buffer& png, std::string_view type, Bytes body) {
  append_le(png, swap_bytes(static_cast<std::uint32_t>(body.size())));
  const std::size_t start = png.size();
  append(png, as_bytes(type));
  append(png, body);
  append_le(png, swap_bytes(zip_crc32(Bytes(png).subspan(start))));
}

Buffer deflated(Bytes rows) {
  Buffer data(1000);
  uLongf size = data.size();
  compress(reinterpret_cast<Bytef*>(data.data()), &size,
           reinterpret_cast<const Bytef*>(rows.data()), rows.size());
  data.resize(size);
  return data;
}

// A PNG of one row of four pixels: `data` as the compressed image data, chunks in front and behind.
Buffer png_around(Bytes data, int color_type = PNG_COLOR_TYPE_GRAY,
                  std::vector<std::string> before = {}, std::vector<std::string> behind = {}) {
  Buffer encoded = make_png({color_type, 8}, 4, {std::vector<png_byte>(16)});
  encoded.resize(33);  // the signature and the header
  for (const std::string& chunk : before)
    append_chunk(encoded, chunk.substr(0, 4), as_bytes(std::string_view(chunk).substr(4)));
  append_chunk(encoded, "IDAT", data);
  for (const std::string& chunk : behind)
    append_chunk(encoded, chunk.substr(0, 4), as_bytes(std::string_view(chunk).substr(4)));
  append_chunk(encoded, "IEND", {});
  return encoded;
}

Buffer bytes(std::initializer_list<unsigned> values) {
  Buffer result;
  for (const unsigned value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

TEST(UnitPng, what_does_not_change_the_pixels_is_no_damage) {
  using namespace std::string_literals;
  const Numbers pixels{9, 1, 2, 3};
  const Buffer data = deflated(bytes({0, 9, 1, 2, 3}));
  const Buffer plain = png_around(data);
  for (const std::string& behind : {"\n"s, "\0\0\0"s, std::string(as_text(plain))}) {
    Buffer longer = plain;
    append(longer, as_bytes(behind));
    EXPECT_EQ(decoded(longer), pixels) << behind.size() << " bytes behind the end";
  }
  Buffer padded = data;
  padded.resize(padded.size() + 8);
  EXPECT_EQ(decoded(png_around(padded)), pixels) << "zeros behind the compressed data";
  EXPECT_EQ(decoded(png_around(deflated(bytes({0, 9, 1, 2, 3, 0, 7, 7, 7, 7})))), pixels);
  EXPECT_EQ(decoded(png_around(data, PNG_COLOR_TYPE_GRAY, {"PLTE" + std::string(6, '\1')})),
            pixels);
  const Buffer rgba = deflated(bytes({0, 1, 2, 3, 255, 4, 5, 6, 255, 7, 8, 9, 255, 0, 0, 0, 0}));
  EXPECT_EQ(decoded(png_around(rgba, PNG_COLOR_TYPE_RGB_ALPHA, {"tRNS" + std::string(6, '\0')})),
            (Numbers{1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0}));
  for (const std::size_t crc_of : {1U, 13U}) {  // the end's, or that of the text in front of it
    Buffer wrong = png_around(data, PNG_COLOR_TYPE_GRAY, {}, {"tEXta\0b"s});
    wrong[wrong.size() - crc_of] ^= std::byte{1};
    EXPECT_EQ(decoded(wrong), pixels) << "a checksum behind the pixels";
  }
}

TEST(HostilePng, rows_that_are_not_what_the_header_says_are_errors) {
  const auto around = [](Bytes rows) { return png_around(deflated(rows)); };
  EXPECT_EQ(decoded(around(bytes({1, 5, 1, 1, 1}))), (Numbers{5, 6, 7, 8}));
  expect_error([&] { decoded(around(bytes({5, 1, 2, 3, 4}))); }, {"PNG is damaged", "filter"});
  expect_error([&] { decoded(around(bytes({0, 1, 2, 3}))); }, {"PNG is damaged"});
  expect_error([&] { decoded(around({})); }, {"PNG is damaged"});
  Buffer wrong_sum = deflated(bytes({0, 1, 2, 3, 4}));
  wrong_sum.back() ^= std::byte{1};
  expect_error([&] { decoded(png_around(wrong_sum)); }, {"PNG is damaged", "check"});
}

TEST(HostilePng, random_damage_with_mended_checksums_is_an_error_or_other_pixels_never_a_crash) {
  std::mt19937 random(8);
  for (const Image& image : {make_image({20, 21, 3}, 1), make_image({9, 40, 1}, 2)}) {
    Buffer sound;
    png_codec.encode(image, sound);
    for (int round = 0; round < 3000; ++round) {
      Buffer damaged = sound;
      const std::size_t end = damaged.size() - 16;  // of the image data, where their CRC starts
      for (std::size_t i = 0; i <= random() % 3; ++i) {
        damaged[41 + random() % (end - 41)] ^= static_cast<std::byte>(1U << random() % 8);
      }
      const std::uint32_t crc = swap_bytes(zip_crc32(Bytes(damaged).subspan(37, end - 37)));
      std::memcpy(damaged.data() + end, &crc, sizeof crc);
      try {
        decoded(damaged);
      } catch (const Error&) {
      }
    }
    EXPECT_EQ(decoded(sound).size(), image.pixels.size());
  }
}

TEST(HostilePng, a_header_that_promises_more_than_the_bytes_can_hold_is_refused) {
  Buffer encoded = make_png({}, 1, {{0}});
  const std::uint32_t sides[] = {swap_bytes<std::uint32_t>(65535),
                                 swap_bytes<std::uint32_t>(16384)};
  std::memcpy(encoded.data() + 16, sides, sizeof sides);
  expect_error([&] { png_codec.shape(encoded); }, {"CRC"});
  const auto crc = static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const unsigned char*>(encoded.data()) + 12, 17));
  const std::uint32_t stored = swap_bytes(crc);
  std::memcpy(encoded.data() + 29, &stored, sizeof stored);
  expect_error([&] { png_codec.shape(encoded); }, {"16384x65535", "cannot hold"});
}

}  // namespace
}  // namespace feedrate::formats
