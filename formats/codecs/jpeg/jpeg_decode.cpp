#include <algorithm>
#include <cassert>
#include <csetjmp>

#include "formats/base/error.h"
#include "formats/codecs/expect_shape.h"
#include "formats/codecs/jpeg/jpeg.h"
#include "formats/codecs/jpeg/jpeg_decompressor.h"
#include "formats/codecs/jpeg/jpeg_feeders.hpp"
#include "formats/codecs/jpeg/jpeg_inks.h"
#include "formats/codecs/jpeg/jpeg_ways.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t rows_at_once = 16;
// Columns decoded on either side of a part, because smooth upsampling reads a pixel's neighbours.
constexpr std::uint32_t neighbours = 2;
constexpr std::uint32_t max_mcu_width = 32;  // pixels; a cropped row begins at an MCU

// One row of four inks to RGB; see jpeg.h for the rule.
void to_rgb(const JSAMPLE* inks, std::size_t width, std::byte* rgb) {
  for (std::size_t x = 0; x < width; ++x) {
    const unsigned key = inks[4 * x + 3];
    for (std::size_t c = 0; c < 3; ++c) {
      rgb[3 * x + c] = static_cast<std::byte>(ink_product(inks[4 * x + c], key));
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
  for (; count > 0; --count, pixels += stride) {
    jpeg_read_scanlines(&library, row, 1);
    to_rgb(row[0], library.output_width, pixels);
  }
}

// Bytes of a row of a part as libjpeg returns it: from the beginning of an MCU, with neighbours.
std::size_t part_stride(const Rect& part, Shape shape) {
  return (std::size_t{part.width} + 2 * neighbours + max_mcu_width) * shape.channels;
}

// What to decode: an image of `shape`. At most one feeder replaces libjpeg's entropy decoder.
struct Task {
  Shape shape;
  HuffmanFeeder* huffman = nullptr;
  ScanFeeder* scan = nullptr;
  std::uint32_t shrunk = 1;

  McuFeeder* feeder() const {
    return scan != nullptr ? static_cast<McuFeeder*>(scan) : static_cast<McuFeeder*>(huffman);
  }
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
  library.scale_denom = task.shrunk;
  jpeg_start_decompress(&library);
  require_tables(library);
  if (task.scan != nullptr) start_feeding(library, *task.scan);
  if (task.huffman != nullptr) start_feeding(library, *task.huffman);
}

void read(jpeg_decompress_struct& library, std::size_t count, std::byte* pixels,
          std::size_t stride) {
  if (library.num_components == 4) {
    read_inks(library, count, pixels, stride);
  } else {
    read_rows(library, count, pixels, stride);
  }
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
  if (task.scan == nullptr) {
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
  JDIMENSION width = std::min(part.x + part.width + neighbours, library.output_width) - x;
  if (width < library.output_width) {
    jpeg_crop_scanline(&library, &x, &width);
    if (task.feeder() != nullptr) keep_to_columns(library, x, width, *task.feeder());
  }
  if (task.feeder() != nullptr) keep_to_rows(library, part.y + part.height, *task.feeder());
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

const HuffmanDecoding& fastest() {
  static const HuffmanDecoding& first = *runnable_huffman_decodings().front();
  return first;
}

std::optional<JpegIndex> index_of(Bytes entry, Bytes encoded) {
  const auto header = read_jpeg_index_header(entry);
  if (!header || !was_made_of(*header, encoded)) return std::nullopt;
  return JpegIndex(entry, *header);
}

void count(const JpegAid& aid, const HuffmanFeeder& feeder, Bytes encoded) {
  if (aid.counts == nullptr || !feeder.feeding) return;
  JpegCounts& counts = *aid.counts;
  ++counts.parts;
  if (feeder.index != nullptr) ++counts.indexed;
  counts.mcus_read += feeder.mcus_read;
  counts.mcus += feeder.layout.across * feeder.layout.down;
  counts.bytes_read += feeder.scan->bytes_read();
  counts.bytes += encoded.size();
}

[[noreturn]] void scan_is_damaged(const JpegDecompressor& self, const ScanFeeder& feeder,
                                  Bytes head, std::size_t head_at) {
  if (feeder.problem == nullptr) jpeg_is_damaged(self, head, head_at);
  throw Error(join("packed JPEG is damaged at byte ", feeder.scan->at(), ": ", feeder.problem));
}

}  // namespace

std::string decode_jpeg(const HuffmanDecoding* how, Bytes encoded, Shape shape,
                        MutableBytes pixels) {
  assert(pixels.size() == shape.bytes());
  std::string doubt;
  if (how != nullptr) {
    HuffmanFeeder feeder(*how);
    JpegDecompressor& self = jpeg_decompressor_for(encoded);
    if (read_all(self, {shape, &feeder}, pixels.data())) {
      if (!feeder.feeding) return self.doubt;
      return feeder.scan->is_padded() ? "" : "bytes behind its last code belong to no code";
    }
    if (!feeder.feeding) jpeg_is_damaged(self, encoded);
    if (feeder.broken) {
      doubt = join("its codes are not sound near byte ",
                   encoded.size() - feeder.bytes_left + feeder.scan->bytes_read());
    }
    // Whatever the problem is, libjpeg decides whether it is one.
  }
  JpegDecompressor& self = jpeg_decompressor_for(encoded);
  if (read_all(self, {shape}, pixels.data())) return doubt.empty() ? self.doubt : doubt;
  const Error damage = jpeg_damage(self, encoded);
  if (!self.ended || !lacks_only_its_end(encoded)) throw damage;
  JpegDecompressor& again = jpeg_decompressor_for(encoded, JpegEnd::end_of_image);
  if (!read_all(again, {shape}, pixels.data())) throw damage;
  return "the marker of its end is missing";
}

PixelRows decode_jpeg_part(const HuffmanDecoding* how, Bytes encoded, Shape shape, const Rect& part,
                           Buffer& memory, const JpegAid& aid, std::uint32_t shrunk) {
  const PartRows rows = rows_for(part, shrunk_shape(shape, shrunk), memory);
  const auto read = [&](JpegDecompressor& self, HuffmanFeeder* feeder, std::size_t& before) {
    return read_part(self, {shape, feeder, nullptr, shrunk}, part, rows.memory.data(), before);
  };
  const auto result = [&](std::size_t before) {
    return PixelRows{rows.memory.data() + before * shape.channels, rows.stride};
  };
  std::size_t before = 0;
  if (how != nullptr && !aid.entry.empty()) {
    if (auto index = index_of(aid.entry, encoded)) {
      HuffmanFeeder feeder(*how, &*index);
      if (read(jpeg_decompressor_for(encoded), &feeder, before) && feeder.index != nullptr) {
        count(aid, feeder, encoded);
        return result(before);
      }
    }
    if (aid.counts != nullptr) ++aid.counts->stale;
  }
  if (how != nullptr) {
    HuffmanFeeder feeder(*how);
    JpegDecompressor& self = jpeg_decompressor_for(encoded);
    if (read(self, &feeder, before)) {
      count(aid, feeder, encoded);
      return result(before);
    }
    if (!feeder.feeding) jpeg_is_damaged(self, encoded);
  }
  JpegDecompressor& self = jpeg_decompressor_for(encoded);
  if (read(self, nullptr, before)) return result(before);
  const Error damage = jpeg_damage(self, encoded);
  if (!self.ended || !lacks_only_its_end(encoded) ||
      !read(jpeg_decompressor_for(encoded, JpegEnd::end_of_image), nullptr, before)) {
    throw damage;
  }
  return result(before);
}

std::string decode_jpeg(Bytes encoded, Shape shape, MutableBytes pixels) {
  return decode_jpeg(&fastest(), encoded, shape, pixels);
}

PixelRows decode_jpeg_part(Bytes encoded, Shape shape, const Rect& part, Buffer& memory) {
  return decode_jpeg_part(encoded, shape, part, memory, JpegAid());
}

PixelRows decode_jpeg_part(Bytes encoded, Shape shape, const Rect& part, Buffer& memory,
                           const JpegAid& aid) {
  return decode_jpeg_part(&fastest(), encoded, shape, part, memory, aid);
}

PixelRows decode_shrunk_jpeg_part(Bytes encoded, Shape shape, std::uint32_t shrunk,
                                  const Rect& part, Buffer& memory, const JpegAid& aid) {
  expect_shape(jpeg_header(encoded).shape, shape, "JPEG");
  return decode_jpeg_part(&fastest(), encoded, shape, part, memory, aid, shrunk);
}

void decode_jpeg_scan(Bytes head, std::size_t head_at, JpegScan& scan, Shape shape,
                      MutableBytes pixels) {
  assert(pixels.size() == shape.bytes());
  JpegDecompressor& self = jpeg_decompressor_for(head);
  ScanFeeder feeder(scan);
  if (!read_all(self, {shape, nullptr, &feeder}, pixels.data())) {
    scan_is_damaged(self, feeder, head, head_at);
  }
}

PixelRows decode_jpeg_scan_part(Bytes head, std::size_t head_at, JpegScan& scan, Shape shape,
                                const Rect& part, Buffer& memory) {
  const PartRows rows = rows_for(part, shape, memory);
  std::size_t before = 0;
  JpegDecompressor& self = jpeg_decompressor_for(head);
  ScanFeeder feeder(scan);
  if (!read_part(self, {shape, nullptr, &feeder}, part, rows.memory.data(), before)) {
    scan_is_damaged(self, feeder, head, head_at);
  }
  return {rows.memory.data() + before * shape.channels, rows.stride};
}

}  // namespace feedrate::formats
