// PNG: read by libpng or plain_png.h, and written by the latter. Images decode to grey or RGB with 8
// bits: palettes become RGB, 1, 2 and 4 bits are scaled to 0..255, of 16 bits the high byte is kept
// (as OpenCV does), alpha and transparency are dropped. Colour profiles and gamma are ignored: a
// dataset's pixels are the stored numbers.
//
//   89 P N G 0D 0A 1A 0A | u32be 13 | I H D R | u32be width | u32be height | u8 bit depth |
//   u8 colour type | u8 compression | u8 filter | u8 interlace | u32be crc | … chunks … | IEND

#include <png.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <csetjmp>

#include "formats/base/checksum.h"
#include "formats/codec.h"
#include "formats/codecs/expect_shape.h"
#include "formats/codecs/png/plain_png.h"

namespace feedrate::formats {
namespace {

constexpr std::array<unsigned char, 16> header_start = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n',
                                                        0,    0,   0,   13,  'I',  'H',  'D',  'R'};
constexpr std::uint64_t max_deflate_ratio = 1032;  // bytes that one byte of deflate can stand for

// libpng leaves functions by longjmp, so what it shares with us has no destructors.
struct Reading {
  Bytes encoded;
  std::size_t at = 0;
  char problem[128] = "";
};

[[noreturn]] void on_read_error(png_structp png, png_const_charp message) {
  auto* reading = static_cast<Reading*>(png_get_error_ptr(png));
  std::snprintf(reading->problem, sizeof reading->problem, "%s", message);
  png_longjmp(png, 1);
}

// Harmless are a chunk that is ignored, and data behind the last row. What else is wrong with the
// image data, such as their checksum, is damage.
void on_warning(png_structp png, png_const_charp message) {
  const std::string_view text = message;
  const bool harmless =
      text.starts_with("IDAT") && (text.find("Too much image data") != text.npos ||
                                   text.find("xtra compressed data") != text.npos);
  if (text.starts_with("IDAT") && !harmless) png_error(png, message);
}

void take_bytes(png_structp png, png_bytep into, std::size_t size) {
  auto* reading = static_cast<Reading*>(png_get_io_ptr(png));
  if (size > reading->encoded.size() - reading->at) png_error(png, "it ends too early: truncated?");
  std::memcpy(into, reading->encoded.data() + reading->at, size);
  reading->at += size;
}

void set_strict(png_structp png) {
  png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_set_benign_errors(png, 1);
  // Text, profiles and times are neither needed nor trusted: they can be decompression bombs.
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
}

void set_output(png_structp png, png_infop info) {
  const unsigned depth = png_get_bit_depth(png, info);
  const unsigned type = png_get_color_type(png, info);
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (type == PNG_COLOR_TYPE_GRAY && depth < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (depth == 16) png_set_strip_16(png);
  png_set_strip_alpha(png);  // always: a palette may carry transparency of its own
}

// False when libpng gave up; reading.problem then says why. No object here has a destructor.
bool read_pixels(Reading& reading, std::byte* pixels, std::size_t row_bytes, std::uint32_t height) {
  png_structp png =
      png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, on_read_error, on_warning);
  png_infop info = png == nullptr ? nullptr : png_create_info_struct(png);
  if (info == nullptr || setjmp(png_jmpbuf(png)) != 0) {
    png_destroy_read_struct(&png, &info, nullptr);
    return false;
  }
  png_set_read_fn(png, &reading, take_bytes);
  set_strict(png);
  png_read_info(png, info);
  set_output(png, info);
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  if (png_get_rowbytes(png, info) != row_bytes) png_error(png, "it contradicts its header");
  for (int pass = 0; pass < passes; ++pass) {
    for (std::uint32_t y = 0; y < height; ++y) {
      png_read_row(png, reinterpret_cast<png_bytep>(pixels + y * row_bytes), nullptr);
    }
  }
  // No chunk behind the pixels changes them. So other readers look at no checksum there.
  png_set_crc_action(png, PNG_CRC_WARN_USE, PNG_CRC_WARN_USE);
  png_read_end(png, nullptr);
  png_destroy_read_struct(&png, &info, nullptr);
  return true;
}

unsigned samples_per_pixel(unsigned color_type) {
  switch (color_type) {
    case PNG_COLOR_TYPE_GRAY:
    case PNG_COLOR_TYPE_PALETTE:
      return 1;
    case PNG_COLOR_TYPE_GRAY_ALPHA:
      return 2;
    case PNG_COLOR_TYPE_RGB:
      return 3;
    case PNG_COLOR_TYPE_RGB_ALPHA:
      return 4;
    default:
      throw Error(join("PNG header names colour type ", color_type));
  }
}

class PngCodec final : public Codec {
 public:
  PngCodec() : Codec("png", "lossless, about half the size of raw for photographs") {}

  bool knows(Bytes encoded) const override {
    return encoded.size() >= png_signature &&
           std::memcmp(encoded.data(), header_start.data(), png_signature) == 0;
  }

  Shape shape(Bytes encoded) const override {
    if (encoded.size() < png_header) {
      throw Error(join("a PNG of ", encoded.size(), " bytes is truncated inside its header"));
    }
    if (std::memcmp(encoded.data(), header_start.data(), header_start.size()) != 0) {
      throw Error("not a PNG: the signature or the first chunk is damaged");
    }
    const auto* chunk = reinterpret_cast<const unsigned char*>(encoded.data()) + 12;
    const auto stated = load_be<std::uint32_t>(encoded.data() + 29);
    if (zip_crc32(encoded.subspan(12, 17)) != stated)
      throw Error("PNG header is damaged: its CRC does not match");
    Shape shape;
    shape.width = load_be<std::uint32_t>(encoded.data() + 16);
    shape.height = load_be<std::uint32_t>(encoded.data() + 20);
    const unsigned depth = chunk[12];
    const unsigned type = chunk[13];
    const unsigned samples = samples_per_pixel(type);
    if (depth > 16 || !std::has_single_bit(depth)) {
      throw Error(join("PNG header states ", depth, " bits a sample"));
    }
    shape.channels = (type & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1;
    const std::uint64_t row_bits = std::uint64_t{shape.width} * samples * depth;
    if (!shape.plausible() ||
        shape.height * ((row_bits + 7) / 8) > encoded.size() * max_deflate_ratio) {
      throw Error(join("PNG header states ", shape.height, "x", shape.width, " pixels, which ",
                       encoded.size(), " bytes cannot hold"));
    }
    return shape;
  }

  void decode(Bytes encoded, Shape wanted, MutableBytes pixels) const override {
    expect_shape(shape(encoded), wanted, "PNG");
    assert(pixels.size() == wanted.bytes());
    if (decode_plain_png(encoded, wanted, pixels)) return;
    Reading reading;
    reading.encoded = encoded;
    const std::size_t row_bytes = std::size_t{wanted.width} * wanted.channels;
    if (!read_pixels(reading, pixels.data(), row_bytes, wanted.height)) {
      throw Error(join("PNG is damaged near byte ", reading.at, ": ", reading.problem));
    }
  }

  // Rows below the part stay unread.
  PixelRows decode_part(Bytes encoded, Shape wanted, const Rect& part,
                        Buffer& memory) const override {
    expect_shape(shape(encoded), wanted, "PNG");
    const Shape top{part.y + part.height, wanted.width, wanted.channels};
    if (top.height == wanted.height ||
        !decode_plain_png(encoded, wanted, grown(memory, top.bytes()))) {
      return Codec::decode_part(encoded, wanted, part, memory);
    }
    return rows_of_part(memory.data(), wanted, part);
  }

  void encode(const ImageView& image, int, Buffer& encoded) const override {
    encode_png(image, encoded);
  }
};

const PngCodec png_row;

}  // namespace

const Codec& png_codec = png_row;

}  // namespace feedrate::formats
