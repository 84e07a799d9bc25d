#pragma once
// JPEGs whose coefficients are stored in another way than Huffman's or arithmetic codes: libjpeg
// makes the pixels of what a JpegScan hands to it, exactly as of any JPEG.

#include "formats/pixels/image.h"

namespace feedrate::formats {

/// How a scan of all components is cut up: MCUs row by row, each of a few 8 x 8 blocks.
struct JpegLayout {
  std::size_t across = 0;  // MCUs of a row, the last one perhaps beyond the image in part
  std::size_t down = 0;    // rows of MCUs
  std::size_t blocks = 0;  // of an MCU: component by component, of each row by row

  bool operator==(const JpegLayout&) const = default;
};

/// Most blocks of an MCU, by the standard.
inline constexpr std::size_t max_mcu_blocks = 10;

class JpegScan {
 public:
  virtual ~JpegScan() = default;
  // Called by libjpeg, which knows no exceptions and no destructors: null, or what is wrong. The
  // place is told by at().

  /// Before anything is read: how the header cuts the image up.
  virtual const char* begin(const JpegLayout& layout) noexcept = 0;
  /// Writes the coefficients of one MCU, 64 of each block in natural order, not yet multiplied by
  /// the quantisation table. Within a decode, rows come in order, columns within a row too; what
  /// the asked part of the image does not need never comes.
  virtual const char* read(std::size_t row, std::size_t column,
                           std::int16_t* const* blocks) noexcept = 0;
  /// Byte where reading stands.
  virtual std::size_t at() const noexcept = 0;
};

/// `head` is a JPEG up to the scan, whose coefficients come from `scan`; else as decode_jpeg.
/// Errors in the head count their bytes from `head_at` on.
void decode_jpeg_scan(Bytes head, std::size_t head_at, JpegScan& scan, Shape shape,
                      MutableBytes pixels);
/// As decode_jpeg_part.
PixelRows decode_jpeg_scan_part(Bytes head, std::size_t head_at, JpegScan& scan, Shape shape,
                                const Rect& part, Buffer& memory);

}  // namespace feedrate::formats
