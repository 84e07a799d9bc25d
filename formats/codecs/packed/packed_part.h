#pragma once
// A part of a packed JPEG for a decoder elsewhere, such as a GPU: all that it must know as plain
// numbers, and copies of the runs that the part needs, checked. Stateless; any thread.

#include <optional>

#include "formats/codecs/packed/packed_image.h"

namespace feedrate::formats {

/// What the components of a JPEG are, as libjpeg derives it from the markers.
enum class JpegColours : std::uint8_t { grey, ycc, rgb, cmyk, ycck };

inline constexpr std::size_t max_jpeg_components = 4;
/// How many neighbours of a pixel smooth upsampling reads on every side.
inline constexpr std::uint32_t jpeg_neighbours = 2;

struct PackedComponent {
  std::uint8_t across = 1, down = 1;                // blocks of an MCU
  std::uint8_t expand_across = 1, expand_down = 1;  // pixels of a sample
  std::uint32_t width = 0, height = 0;              // samples of the image
  std::uint16_t table[64] = {};                     // of quantisation, in zigzag order
};

struct PackedPart {
  JpegColours colours = JpegColours::grey;
  std::uint8_t components = 0;
  PackedComponent component[max_jpeg_components];
  std::uint8_t rows_at_once = 1;                // of MCUs, that libjpeg reads together
  std::uint32_t across = 0;                     // MCUs of a row of the image
  std::uint32_t first_row = 0, rows = 0;        // MCUs that the part needs
  std::uint32_t first_column = 0, columns = 0;  // of each row
  std::uint32_t first_run = 0, row_runs = 0;    // the runs of each row that hold them

  std::uint32_t runs() const { return rows * row_runs; }
  unsigned blocks() const;  // of an MCU
};

/// The plan for decoding `part`. Nothing for a head that pack_jpeg() does not write, and where
/// libjpeg would refuse the image: decode_packed_jpeg_part() then says what is wrong, if anything.
/// Throws Error naming the byte where the head is no JPEG's. `part` is not empty.
std::optional<PackedPart> packed_part(const PackedImage& record, Shape shape, const Rect& part);

/// Bytes that copy_packed_part() writes. Throws Error where the index is damaged.
std::size_t packed_part_bytes(const PackedImage& record, const PackedPart& part);

/// Copies the runs of `part`, row by row, behind a list of where they begin and, at last, end:
///
///   (runs + 1) × u32le, counted from behind the list | data of the runs
///
/// Checks the sum of every run, and that it is made of whole blocks: nothing is left that could be
/// wrong with it. Returns the bytes written, which `to` must hold. Throws Error naming the byte on
/// damage. These are at least the runs that decode_packed_jpeg_part() reads, so where it fails, this
/// fails, too.
std::size_t copy_packed_part(const PackedImage& record, const PackedPart& part, MutableBytes to);

}  // namespace feedrate::formats
