#pragma once
// PNG and JPEG codecs that follow the manuals of libpng and libjpeg: everything is allocated and
// freed for each image, all settings are defaults. The baseline of our codecs in benchmarks.

#include <png.h>

#include <cstdio>
#include <cstdlib>

// jpeglib.h wants <cstdio> before it.
#include <jpeglib.h>

#include "formats/pixels/image.h"

namespace feedrate::testing {
using namespace formats;

inline void plain_png_encode(const ImageView& image, Buffer& encoded) {
  encoded.clear();
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &encoded,
      [](png_structp self, png_bytep from, std::size_t size) {
        append(*static_cast<Buffer*>(png_get_io_ptr(self)),
               {reinterpret_cast<const std::byte*>(from), size});
      },
      nullptr);
  png_set_IHDR(png, info, image.shape.width, image.shape.height, 8,
               image.shape.channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  const std::size_t row = std::size_t{image.shape.width} * image.shape.channels;
  for (std::uint32_t y = 0; y < image.shape.height; ++y) {
    png_write_row(png, reinterpret_cast<png_const_bytep>(image.pixels.data() + y * row));
  }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
}

inline void plain_png_decode(Bytes encoded, Shape shape, MutableBytes pixels) {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_read_fn(png, &encoded, [](png_structp self, png_bytep into, std::size_t size) {
    Bytes& rest = *static_cast<Bytes*>(png_get_io_ptr(self));
    if (size > rest.size()) png_error(self, "the PNG ends too early");
    std::memcpy(into, rest.data(), size);
    rest = rest.subspan(size);
  });
  png_read_info(png, info);
  const std::size_t row = std::size_t{shape.width} * shape.channels;
  for (std::uint32_t y = 0; y < shape.height; ++y) {
    png_read_row(png, reinterpret_cast<png_bytep>(pixels.data() + y * row), nullptr);
  }
  png_read_end(png, nullptr);
  png_destroy_read_struct(&png, &info, nullptr);
}

inline void plain_jpeg_encode(const ImageView& image, int quality, Buffer& encoded) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = image.shape.width;
  jpeg.image_height = image.shape.height;
  jpeg.input_components = static_cast<int>(image.shape.channels);
  jpeg.in_color_space = image.shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, quality, TRUE);
  jpeg_start_compress(&jpeg, TRUE);
  const std::size_t row = std::size_t{image.shape.width} * image.shape.channels;
  auto* pixels = reinterpret_cast<JSAMPLE*>(const_cast<std::byte*>(image.pixels.data()));
  while (jpeg.next_scanline < jpeg.image_height) {
    JSAMPROW line = pixels + jpeg.next_scanline * row;
    jpeg_write_scanlines(&jpeg, &line, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  const auto* begin = reinterpret_cast<const std::byte*>(bytes);
  encoded.assign(begin, begin + size);
  std::free(bytes);
}

inline void plain_jpeg_decode(Bytes encoded, Shape shape, MutableBytes pixels) {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&jpeg);
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(encoded.data()), encoded.size());
  jpeg_read_header(&jpeg, TRUE);
  jpeg_start_decompress(&jpeg);
  const std::size_t row = std::size_t{shape.width} * shape.channels;
  while (jpeg.output_scanline < jpeg.output_height) {
    auto* line = reinterpret_cast<JSAMPROW>(pixels.data() + jpeg.output_scanline * row);
    jpeg_read_scanlines(&jpeg, &line, 1);
  }
  jpeg_finish_decompress(&jpeg);
  jpeg_destroy_decompress(&jpeg);
}

}  // namespace feedrate::testing
