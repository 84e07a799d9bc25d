#pragma once
// JPEGs whose coefficients are stored neither in Huffman nor in arithmetic codes: a JpegScan hands
// them to libjpeg, which computes the pixels exactly as for any JPEG.

#include "formats/pixels/image.h"

namespace feedrate::formats {

/// How a scan of all components is divided: into rows of MCUs, each of a few 8 x 8 blocks.
struct JpegLayout {
  std::size_t across = 0;  // MCUs of a row; the last one may reach beyond the image
  std::size_t down = 0;    // rows of MCUs
  std::size_t blocks = 0;  // of an MCU: component by component, row by row

  bool operator==(const JpegLayout&) const = default;
};

/// The standard's limit on the blocks of an MCU.
inline constexpr std::size_t max_mcu_blocks = 10;

class JpegScan {
 public:
  virtual ~JpegScan() = default;
  // Called by libjpeg, which knows neither exceptions nor destructors. The result is null or
  // describes a fault; at() says where.

  /// Called before anything is read, with the layout that the header gives the image.
  virtual const char* begin(const JpegLayout& layout) noexcept = 0;
  /// Writes the coefficients of one MCU, 64 for each block in natural order, not yet multiplied by
  /// the quantisation table. During a decode, rows come in order, and so do columns in a row. MCUs
  /// that the wanted part of the image does not need are never asked for.
  virtual const char* read(std::size_t row, std::size_t column,
                           std::int16_t* const* blocks) noexcept = 0;
  /// Offset of the byte to be read next.
  virtual std::size_t at() const noexcept = 0;
};

/// As decode_jpeg: `head` is a JPEG up to its scan, and `scan` gives the coefficients. Errors in
/// the head report byte offsets with `head_at` added.
void decode_jpeg_scan(Bytes head, std::size_t head_at, JpegScan& scan, Shape shape,
                      MutableBytes pixels);
/// As decode_jpeg_part.
PixelRows decode_jpeg_scan_part(Bytes head, std::size_t head_at, JpegScan& scan, Shape shape,
                                const Rect& part, Buffer& memory);

}  // namespace feedrate::formats
