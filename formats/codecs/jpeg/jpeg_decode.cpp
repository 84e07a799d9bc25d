#include <algorithm>
#include <cassert>
#include <csetjmp>
#include <cstdio>

// jpeglib.h needs <cstdio> before it.
#include <jpeglib.h>

#include "formats/base/error.h"
#include "formats/codecs/jpeg/jpeg.h"
#include "formats/codecs/jpeg/jpeg_decompressor.h"
#include "formats/codecs/jpeg/jpeg_scan.h"

// libjpeg's interface to an entropy decoder. jpeglib.h only declares it; a private header defines
// it, unchanged since 1998 (6b) and in all versions of libjpeg-turbo.
struct jpeg_entropy_decoder {
  void (*start_pass)(j_decompress_ptr);
  boolean (*decode_mcu)(j_decompress_ptr, JBLOCKROW* blocks);  // null: the MCU is not wanted
  boolean insufficient_data;
};

namespace feedrate::formats {
namespace {

constexpr std::size_t rows_at_once = 16;
// Columns decoded on either side of a part, because smooth upsampling reads a pixel's neighbours.
constexpr std::uint32_t neighbours = 2;
constexpr std::uint32_t max_mcu_width = 32;  // pixels; a cropped row begins at an MCU

static_assert(max_mcu_blocks == D_MAX_BLOCKS_IN_MCU);

// Replaces libjpeg's entropy decoder. Lives as long as the decoding of one image.
struct ScanFeeder : jpeg_entropy_decoder {
  explicit ScanFeeder(JpegScan& from) : jpeg_entropy_decoder{}, scan(&from) {}

  JpegScan* scan;
  JpegLayout layout;
  std::size_t row = 0, column = 0;                // of the MCU that libjpeg reads next
  std::size_t first_column = 0, last_column = 0;  // of the MCUs that become pixels
  const char* problem = nullptr;
};

boolean feed_mcu(j_decompress_ptr library, JBLOCKROW* blocks) {
  auto& self = *static_cast<ScanFeeder*>(library->entropy);
  if (blocks != nullptr && self.column >= self.first_column && self.column <= self.last_column) {
    std::int16_t* wanted[max_mcu_blocks];
    for (std::size_t i = 0; i < self.layout.blocks; ++i) wanted[i] = *blocks[i];
    self.problem = self.scan->read(self.row, self.column, wanted);
    if (self.problem != nullptr) give_up(*library, self.problem);
  }
  if (++self.column == self.layout.across) {
    self.column = 0;
    ++self.row;
  }
  return TRUE;
}

// Puts the feeder in the place of the entropy decoder; the rest of libjpeg's set-up stays.
void start_feeding(jpeg_decompress_struct& library, ScanFeeder& feeder) {
  if (jpeg_has_multiple_scans(&library) != 0 || library.progressive_mode != 0) {
    give_up(library, "its header is not that of a single scan");
  }
  feeder.decode_mcu = feed_mcu;
  feeder.layout = {library.MCUs_per_row, library.MCU_rows_in_scan,
                   static_cast<std::size_t>(library.blocks_in_MCU)};
  feeder.last_column = feeder.layout.across - 1;
  feeder.problem = feeder.scan->begin(feeder.layout);
  if (feeder.problem != nullptr) give_up(library, feeder.problem);
  library.entropy = &feeder;
}

// Restricts the feeder to the MCUs of `width` pixels from `x`, where an MCU begins.
void keep_to_columns(const jpeg_decompress_struct& library, JDIMENSION x, JDIMENSION width,
                     ScanFeeder& feeder) {
  const std::size_t mcu_width =
      DCTSIZE * (library.num_components == 1 ? 1 : std::size_t(library.max_h_samp_factor));
  feeder.first_column = x / mcu_width;
  feeder.last_column = (x + width - 1) / mcu_width;
}

unsigned times(unsigned a, unsigned b) {  // a · b / 255, rounded to nearest
  const unsigned product = a * b + 128;
  return (product + (product >> 8)) >> 8;
}

// One row of four inks to RGB; see jpeg.h for the rule.
void to_rgb(const JSAMPLE* inks, std::size_t width, unsigned flip, std::byte* rgb) {
  for (std::size_t x = 0; x < width; ++x) {
    const unsigned key = inks[4 * x + 3] ^ flip;
    for (std::size_t c = 0; c < 3; ++c) {
      rgb[3 * x + c] = static_cast<std::byte>(times(inks[4 * x + c] ^ flip, key));
    }
  }
}

// Reads the library's next `count` rows into contiguous memory.
void read_rows(jpeg_decompress_struct& library, std::size_t count, std::byte* pixels,
               std::size_t stride) {
  while (count > 0) {
    JSAMPROW rows[rows_at_once];
    const std::size_t asked = std::min(rows_at_once, count);
    for (std::size_t i = 0; i < asked; ++i) {
      rows[i] = reinterpret_cast<JSAMPROW>(pixels + i * stride);
    }
    const std::size_t read = jpeg_read_scanlines(&library, rows, static_cast<JDIMENSION>(asked));
    count -= read;
    pixels += read * stride;
  }
}

// The same for four inks, which become RGB.
void read_inks(jpeg_decompress_struct& library, std::size_t count, std::byte* pixels,
               std::size_t stride) {
  JSAMPARRAY row = (*library.mem->alloc_sarray)(reinterpret_cast<j_common_ptr>(&library),
                                                JPOOL_IMAGE, 4 * library.output_width, 1);
  const unsigned flip = library.saw_Adobe_marker != 0 ? 0 : 255;
  for (; count > 0; --count, pixels += stride) {
    jpeg_read_scanlines(&library, row, 1);
    to_rgb(row[0], library.output_width, flip, pixels);
  }
}

// Bytes of a row of a part as libjpeg returns it: from the beginning of an MCU, with neighbours.
std::size_t part_stride(const Rect& part, Shape shape) {
  return (std::size_t{part.width} + 2 * neighbours + max_mcu_width) * shape.channels;
}

// What to decode: an image of `shape`. Its coefficients come from `feeder`, or where that is null,
// from the file.
struct Task {
  Shape shape;
  ScanFeeder* feeder = nullptr;
};

void start(jpeg_decompress_struct& library, const Task& task) {
  const Shape shape = task.shape;
  jpeg_read_header(&library, TRUE);
  if (library.image_height != shape.height || library.image_width != shape.width ||
      (library.num_components == 1) != (shape.channels == 1)) {
    give_up(library, "it contradicts its header");
  }
  library.out_color_space = library.num_components == 4 ? JCS_CMYK
                            : shape.channels == 1       ? JCS_GRAYSCALE
                                                        : JCS_RGB;
  jpeg_start_decompress(&library);
  require_tables(library);
  if (task.feeder != nullptr) start_feeding(library, *task.feeder);
}

void read(jpeg_decompress_struct& library, std::size_t count, std::byte* pixels,
          std::size_t stride) {
  library.num_components == 4 ? read_inks(library, count, pixels, stride)
                              : read_rows(library, count, pixels, stride);
}

// False when libjpeg gave up; self.problem then says why. No object here has a destructor.
bool read_all(JpegDecompressor& self, const Task& task, std::byte* pixels) {
  if (setjmp(self.give_up) != 0) {
    jpeg_abort_decompress(self.library);
    return false;
  }
  start(*self.library, task);
  read(*self.library, task.shape.height, pixels,
       std::size_t{task.shape.width} * task.shape.channels);
  if (task.feeder == nullptr) {
    jpeg_finish_decompress(self.library);
  } else {
    jpeg_abort_decompress(self.library);  // the head has no end-of-image marker
  }
  return true;
}

// `rows` has part.height rows of part_stride bytes. Sets `before` to the number of pixels in front
// of the part.
bool read_part(JpegDecompressor& self, const Task& task, const Rect& part, std::byte* rows,
               std::size_t& before) {
  jpeg_decompress_struct& library = *self.library;
  if (setjmp(self.give_up) != 0) {
    jpeg_abort_decompress(&library);
    return false;
  }
  start(library, task);
  JDIMENSION x = part.x - std::min(part.x, neighbours);
  JDIMENSION width = std::min(part.x + part.width + neighbours, task.shape.width) - x;
  if (width < task.shape.width) {
    jpeg_crop_scanline(&library, &x, &width);
    if (task.feeder != nullptr) keep_to_columns(library, x, width, *task.feeder);
  }
  before = part.x - x;
  if (part.y > 0) jpeg_skip_scanlines(&library, part.y);
  read(library, part.height, rows, part_stride(part, task.shape));
  jpeg_abort_decompress(&library);  // the rows below stay unread
  return true;
}

struct PartRows {
  std::size_t stride = 0;
  MutableBytes memory;
};

PartRows rows_for(const Rect& part, Shape shape, Buffer& memory) {
  assert(part.height > 0 && part.height <= shape.height - part.y);
  assert(part.width > 0 && part.width <= shape.width - part.x);
  const std::size_t stride = part_stride(part, shape);
  return {stride, grown(memory, part.height * stride)};
}

[[noreturn]] void scan_is_damaged(const JpegDecompressor& self, const ScanFeeder& feeder,
                                  Bytes head, std::size_t head_at) {
  if (feeder.problem == nullptr) jpeg_is_damaged(self, head, head_at);
  throw Error(join("packed JPEG is damaged at byte ", feeder.scan->at(), ": ", feeder.problem));
}

}  // namespace

void decode_jpeg(Bytes encoded, Shape shape, MutableBytes pixels) {
  assert(pixels.size() == shape.bytes());
  JpegDecompressor& self = jpeg_decompressor_for(encoded);
  if (!read_all(self, {shape}, pixels.data())) jpeg_is_damaged(self, encoded);
}

PixelRows decode_jpeg_part(Bytes encoded, Shape shape, const Rect& part, Buffer& memory) {
  const PartRows rows = rows_for(part, shape, memory);
  std::size_t before = 0;
  JpegDecompressor& self = jpeg_decompressor_for(encoded);
  if (!read_part(self, {shape}, part, rows.memory.data(), before)) jpeg_is_damaged(self, encoded);
  return {rows.memory.data() + before * shape.channels, rows.stride};
}

void decode_jpeg_scan(Bytes head, std::size_t head_at, JpegScan& scan, Shape shape,
                      MutableBytes pixels) {
  assert(pixels.size() == shape.bytes());
  JpegDecompressor& self = jpeg_decompressor_for(head);
  ScanFeeder feeder(scan);
  if (!read_all(self, {shape, &feeder}, pixels.data())) {
    scan_is_damaged(self, feeder, head, head_at);
  }
}

PixelRows decode_jpeg_scan_part(Bytes head, std::size_t head_at, JpegScan& scan, Shape shape,
                                const Rect& part, Buffer& memory) {
  const PartRows rows = rows_for(part, shape, memory);
  std::size_t before = 0;
  JpegDecompressor& self = jpeg_decompressor_for(head);
  ScanFeeder feeder(scan);
  if (!read_part(self, {shape, &feeder}, part, rows.memory.data(), before)) {
    scan_is_damaged(self, feeder, head, head_at);
  }
  return {rows.memory.data() + before * shape.channels, rows.stride};
}

}  // namespace feedrate::formats
