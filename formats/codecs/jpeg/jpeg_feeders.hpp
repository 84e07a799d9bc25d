#pragma once
// What replaces libjpeg's entropy decoder while it decodes one image: it asks a feeder for the
// coefficients of each MCU. As for jpeg_decompressor.h, no object here has a destructor.

#include <cstdio>

// jpeglib.h needs <cstdio> before it.
#include <jpeglib.h>

#include "formats/codecs/jpeg/jpeg_decompressor.h"
#include "formats/codecs/jpeg/jpeg_huffman.h"
#include "formats/codecs/jpeg/jpeg_index.h"

// libjpeg's interface to an entropy decoder. jpeglib.h only declares it; a private header defines
// it, unchanged since 1998 (6b) and in all versions of libjpeg-turbo.
struct jpeg_entropy_decoder {
  void (*start_pass)(j_decompress_ptr);
  boolean (*decode_mcu)(j_decompress_ptr, JBLOCKROW* blocks);  // null: the MCU is not wanted
  boolean insufficient_data;
};

namespace feedrate::formats {

struct McuFeeder : jpeg_entropy_decoder {
  JpegLayout layout;
  std::size_t row = 0, column = 0;                // of the MCU that libjpeg reads next
  std::size_t first_column = 0, last_column = 0;  // of the MCUs that become pixels
  std::size_t last_row = 0;                       // at least; libjpeg may read further rows
  bool feeding = false;
};

/// Restricts a feeder to the MCUs of `width` pixels from `x`, where an MCU begins.
void keep_to_columns(const jpeg_decompress_struct& library, JDIMENSION x, JDIMENSION width,
                     McuFeeder& feeder);
/// Tells a feeder that rows of pixels from `end` on will not be read.
void keep_to_rows(const jpeg_decompress_struct& library, JDIMENSION end, McuFeeder& feeder);

/// Feeds the coefficients of a JpegScan.
struct ScanFeeder : McuFeeder {
  explicit ScanFeeder(JpegScan& from) : McuFeeder{}, scan(&from) {}

  JpegScan* scan;
  const char* problem = nullptr;
};

/// After jpeg_start_decompress. Gives up where the header is not that of a single scan.
void start_feeding(jpeg_decompress_struct& library, ScanFeeder& feeder);

/// Runs of wanted MCUs, read two at a time where there is an index.
struct RunsAhead {
  static constexpr std::size_t max_blocks = 512;  // of a run: 64 KiB
  struct Run {
    std::size_t first = 0, mcus = 0;  // in the order of the scan
    alignas(64) std::int16_t coefficients[max_blocks * DCTSIZE2];
  };
  Run runs[2];
};

/// Feeds what a HuffmanDecoding reads of the file itself. Gives up at the first fault.
struct HuffmanFeeder : McuFeeder {
  /// With an index, which belongs to the file, MCUs that nobody wants are passed over. Then the part
  /// must be all that is read: what follows the scan stays unknown.
  explicit HuffmanFeeder(const HuffmanDecoding& decoding, JpegIndex* with_index = nullptr);

  const HuffmanDecoding* how;
  JpegIndex* index;
  HuffmanScan* scan;  // this thread's, as what follows
  RunsAhead* ahead;
  std::size_t mcus_read = 0;
  std::size_t bytes_left = 0;  // of the file, from the scan's first code on
  bool broken = false;         // it gave up at a fault of the codes
};

/// After jpeg_start_decompress. Leaves libjpeg's decoder in its place where the file is none for a
/// HuffmanScan.
void start_feeding(jpeg_decompress_struct& library, HuffmanFeeder& feeder);

/// Starts a scan that is the whole image, to be read from the feeder's scan; `bytes_left` are the
/// file's bytes from its first code on. False where that is no baseline JPEG.
bool start_whole_scan(JpegDecompressor& self, HuffmanFeeder& feeder, std::size_t& bytes_left);

}  // namespace feedrate::formats
