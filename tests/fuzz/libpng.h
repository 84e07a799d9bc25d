#pragma once
// Decodes with libpng alone, as the reference for our own PNG encoder and decoder.

#include <png.h>

#include <csetjmp>
#include <optional>

#include "formats/pixels/image.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;

[[noreturn]] inline void leave_libpng(png_structp png, png_const_charp) { png_longjmp(png, 1); }
inline void ignore_warning(png_structp, png_const_charp) {}

inline void take_from_memory(png_structp png, png_bytep into, std::size_t size) {
  Bytes& rest = *static_cast<Bytes*>(png_get_io_ptr(png));
  if (size > rest.size()) png_error(png, "the end");
  std::memcpy(into, rest.data(), size);
  rest = rest.subspan(size);
}

// libpng reports errors by longjmp, so no object with a destructor may live here.
inline bool libpng_reads(Bytes& rest, Shape shape, std::byte* pixels) {
  png_structp png =
      png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, leave_libpng, ignore_warning);
  png_infop info = png_create_info_struct(png);
  if (setjmp(png_jmpbuf(png)) != 0) {
    png_destroy_read_struct(&png, &info, nullptr);
    return false;
  }
  png_set_read_fn(png, &rest, take_from_memory);
  png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_read_info(png, info);
  const std::size_t row_bytes = std::size_t{shape.width} * shape.channels;
  if (png_get_rowbytes(png, info) != row_bytes || png_get_image_height(png, info) != shape.height ||
      png_get_bit_depth(png, info) != 8 || png_get_channels(png, info) != shape.channels) {
    png_error(png, "another shape");
  }
  const int passes = png_set_interlace_handling(png);
  for (int pass = 0; pass < passes; ++pass) {
    for (std::uint32_t y = 0; y < shape.height; ++y) {
      png_read_row(png, reinterpret_cast<png_bytep>(pixels + y * row_bytes), nullptr);
    }
  }
  png_read_end(png, nullptr);
  png_destroy_read_struct(&png, &info, nullptr);
  return true;
}

/// The pixels of an 8-bit PNG, grey or RGB; nothing when libpng refuses it.
inline std::optional<Buffer> read_by_libpng(Bytes encoded, Shape shape) {
  Buffer pixels(shape.bytes());
  if (!libpng_reads(encoded, shape, pixels.data())) return std::nullopt;
  return pixels;
}

}  // namespace feedrate::fuzz
