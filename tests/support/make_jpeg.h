#pragma once
// JPEGs that our encoder never writes but other tools do, made by libjpeg.

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

// jpeglib.h wants <cstdio> before it.
#include <jpeglib.h>

#include "formats/pixels/image.h"

namespace feedrate::testing {
using namespace formats;

struct JpegKind {
  J_COLOR_SPACE from = JCS_RGB;  // of the pixels given
  J_COLOR_SPACE stored = JCS_YCbCr;
  int quality = 90;
  int across = 2, down = 2;  // luma samples per chroma sample
  bool progressive = false;
  std::vector<jpeg_scan_info> scans = {};  // replace the usual scans, unless empty
  bool arithmetic = false;
  bool adobe = false;    // forces the marker; libjpeg writes it for RGB, CMYK and YCCK
  unsigned restart = 0;  // MCUs between restart markers
  bool tables = true;    // false: an abbreviated file
  bool optimal = false;  // Huffman tables of its own
};

/// `pixels` are interleaved, with as many values per pixel as `kind.from` has components.
inline Buffer make_jpeg(const JpegKind& kind, std::uint32_t width, std::uint32_t height,
                        const Buffer& pixels) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);  // exits on an error, which is the test's own fault
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = width;
  jpeg.image_height = height;
  jpeg.in_color_space = kind.from;
  jpeg.input_components = kind.from == JCS_GRAYSCALE ? 1 : kind.from == JCS_CMYK ? 4 : 3;
  jpeg_set_defaults(&jpeg);
  jpeg_set_colorspace(&jpeg, kind.stored);
  jpeg_set_quality(&jpeg, kind.quality, TRUE);
  if (kind.stored == JCS_YCbCr || kind.stored == JCS_YCCK) {
    jpeg.comp_info[0].h_samp_factor = kind.across;
    jpeg.comp_info[0].v_samp_factor = kind.down;
  }
  if (kind.progressive) jpeg_simple_progression(&jpeg);
  if (!kind.scans.empty()) {
    jpeg.scan_info = kind.scans.data();
    jpeg.num_scans = static_cast<int>(kind.scans.size());
  }
  jpeg.arith_code = kind.arithmetic ? TRUE : FALSE;
  jpeg.restart_interval = kind.restart;
  if (kind.adobe) jpeg.write_Adobe_marker = TRUE;
  if (kind.optimal) jpeg.optimize_coding = TRUE;
  if (!kind.tables) jpeg_suppress_tables(&jpeg, TRUE);
  jpeg_start_compress(&jpeg, kind.tables ? TRUE : FALSE);
  const std::size_t row = std::size_t{width} * static_cast<std::size_t>(jpeg.input_components);
  EXPECT_EQ(pixels.size(), row * height);
  std::vector<JSAMPLE> line(row);
  while (jpeg.next_scanline < height) {
    std::memcpy(line.data(), pixels.data() + jpeg.next_scanline * row, row);
    JSAMPROW rows[] = {line.data()};
    jpeg_write_scanlines(&jpeg, rows, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  const auto* begin = reinterpret_cast<const std::byte*>(bytes);
  Buffer encoded(begin, begin + size);
  std::free(bytes);
  return encoded;
}

}  // namespace feedrate::testing
