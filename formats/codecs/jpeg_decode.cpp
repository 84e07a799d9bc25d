#include <algorithm>
#include <array>
#include <cassert>
#include <csetjmp>
#include <cstdio>
#include <memory>
#include <new>

// jpeglib.h wants <cstdio> before it.
#include <jerror.h>
#include <jpeglib.h>

#include "formats/codecs/jpeg.h"
#include "formats/error.h"

namespace feedrate {
namespace {

constexpr long most_memory = 2L << 30;  // bytes: coefficients of 260 million pixels of a component
constexpr int most_scans = 100;         // encoders use about ten; each is a pass over all of it
constexpr std::size_t rows_at_once = 16;
// Columns to decode beside those of a part: smooth upsampling takes a pixel's neighbours in.
constexpr std::uint32_t neighbours = 2;
constexpr std::uint32_t widest_unit = 32;  // pixels of an MCU, where libjpeg begins a row

// libjpeg leaves a function by longjmp, so nothing that it calls or is called from up to the setjmp
// has a destructor, and what both sides see lives in this struct.
struct Decompressor {
  jpeg_decompress_struct library{};
  jpeg_error_mgr errors{};
  jpeg_source_mgr source{};
  jpeg_progress_mgr progress{};
  std::jmp_buf give_up{};
  char problem[JMSG_LENGTH_MAX] = "";
  // Tables that libjpeg takes for ones a file lacks (Motion JPEG leaves out the usual ones).
  std::array<JHUFF_TBL, 2> usual_dc{};
  std::array<JHUFF_TBL, 2> usual_ac{};

  Decompressor();
  ~Decompressor() { jpeg_destroy_decompress(&library); }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;
};

Decompressor& owner(j_common_ptr library) {
  return *static_cast<Decompressor*>(library->client_data);
}

[[noreturn]] void give_up(j_common_ptr library, const char* problem) {
  Decompressor& self = owner(library);
  std::snprintf(self.problem, sizeof self.problem, "%s", problem);
  std::longjmp(self.give_up, 1);
}

[[noreturn]] void on_error(j_common_ptr library) {
  char problem[JMSG_LENGTH_MAX];
  (*library->err->format_message)(library, problem);
  give_up(library, problem);
}

// A warning says that pixels were guessed, unless it is one of these.
bool is_harmless(const jpeg_error_mgr& message) {
  switch (message.msg_code) {
    case JWRN_JFIF_MAJOR:      // an unknown version of JFIF
    case JWRN_ADOBE_XFORM:     // an unknown colour transform: taken for the usual one
    case JWRN_NOT_SEQUENTIAL:  // zeros where a baseline scan states its fixed range
      return true;
    case JWRN_EXTRANEOUS_DATA: {
      // Padding; but a stretch between restart markers that is too long was decoded wrongly.
      const int marker = message.msg_parm.i[1];
      return marker < JPEG_RST0 || marker > JPEG_RST0 + 7;
    }
    default:
      return false;
  }
}

void on_message(j_common_ptr library, int level) {
  if (level < 0 && !is_harmless(*library->err)) on_error(library);
}

void on_start(j_decompress_ptr) {}

boolean on_end_of_bytes(j_decompress_ptr library) {
  give_up(reinterpret_cast<j_common_ptr>(library), "it ends too early: truncated?");
}

void on_skip(j_decompress_ptr library, long count) {
  if (count <= 0) return;
  jpeg_source_mgr& source = *library->src;
  if (static_cast<std::size_t>(count) > source.bytes_in_buffer) on_end_of_bytes(library);
  source.next_input_byte += count;
  source.bytes_in_buffer -= static_cast<std::size_t>(count);
}

void on_progress(j_common_ptr library) {
  const auto* decompressor = reinterpret_cast<j_decompress_ptr>(library);
  if (decompressor->input_scan_number > most_scans) {
    give_up(library, "more scans than any encoder writes");
  }
}

// False when libjpeg could not even be started: out of memory. Two functions, because each needs
// a setjmp of its own kind of object.
bool copy_usual_tables(Decompressor& self) {
  jpeg_compress_struct library{};
  library.err = &self.errors;
  library.client_data = &self;
  if (setjmp(self.give_up) != 0) {
    jpeg_destroy_compress(&library);
    return false;
  }
  jpeg_create_compress(&library);
  library.in_color_space = JCS_RGB;
  jpeg_set_defaults(&library);
  for (std::size_t i = 0; i < self.usual_dc.size(); ++i) {
    self.usual_dc[i] = *library.dc_huff_tbl_ptrs[i];
    self.usual_ac[i] = *library.ac_huff_tbl_ptrs[i];
  }
  jpeg_destroy_compress(&library);
  return true;
}

bool create(Decompressor& self) {
  if (setjmp(self.give_up) != 0) {
    jpeg_destroy_decompress(&self.library);
    return false;
  }
  jpeg_create_decompress(&self.library);
  return true;
}

Decompressor::Decompressor() {
  library.err = jpeg_std_error(&errors);
  library.client_data = this;
  errors.error_exit = on_error;
  errors.emit_message = on_message;
  if (!copy_usual_tables(*this) || !create(*this)) throw std::bad_alloc();
  source.init_source = on_start;
  source.fill_input_buffer = on_end_of_bytes;
  source.skip_input_data = on_skip;
  source.resync_to_restart = jpeg_resync_to_restart;
  source.term_source = on_start;
  progress.progress_monitor = on_progress;
  library.src = &source;
  library.progress = &progress;
  library.mem->max_memory_to_use = most_memory;
}

// libjpeg keeps tables from image to image, for abbreviated files. An image that lacks its own must
// not be decoded with those of the one before: Huffman tables become the usual ones or such that
// libjpeg refuses, quantisation tables zeros, which require_tables finds.
void forget_tables(Decompressor& self) {
  JHUFF_TBL refused{};
  std::fill_n(refused.bits + 1, 16, UINT8{255});
  for (std::size_t i = 0; i < NUM_HUFF_TBLS; ++i) {
    const bool usual = i < self.usual_dc.size();
    JHUFF_TBL* dc = self.library.dc_huff_tbl_ptrs[i];
    JHUFF_TBL* ac = self.library.ac_huff_tbl_ptrs[i];
    if (dc != nullptr) *dc = usual ? self.usual_dc[i] : refused;
    if (ac != nullptr) *ac = usual ? self.usual_ac[i] : refused;
  }
  for (JQUANT_TBL* table : self.library.quant_tbl_ptrs) {
    if (table != nullptr) std::fill_n(table->quantval, DCTSIZE2, UINT16{0});
  }
}

// Of a file with several scans all have been read by now: a component without a table has no scan.
void require_tables(jpeg_decompress_struct& library) {
  auto* common = reinterpret_cast<j_common_ptr>(&library);
  for (int i = 0; i < library.num_components; ++i) {
    const JQUANT_TBL* table = library.comp_info[i].quant_table;
    if (table == nullptr) give_up(common, "a component has no scan");
    if (std::find(table->quantval, table->quantval + DCTSIZE2, 0) != table->quantval + DCTSIZE2) {
      give_up(common, "a quantisation table is missing or holds a zero");
    }
  }
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

// `count` rows from where the library stands, to memory that has them one behind the other.
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

// Bytes of a row of a part, as libjpeg gives it: with neighbours, from the beginning of an MCU on.
std::size_t part_stride(const Rect& part, Shape shape) {
  return (std::size_t{part.width} + 2 * neighbours + widest_unit) * shape.channels;
}

void start(Decompressor& self, Shape shape) {
  jpeg_decompress_struct& library = self.library;
  jpeg_read_header(&library, TRUE);
  if (library.image_height != shape.height || library.image_width != shape.width ||
      (library.num_components == 1) != (shape.channels == 1)) {
    give_up(reinterpret_cast<j_common_ptr>(&library), "it is not what its header says");
  }
  library.out_color_space = library.num_components == 4 ? JCS_CMYK
                            : shape.channels == 1       ? JCS_GRAYSCALE
                                                        : JCS_RGB;
  jpeg_start_decompress(&library);
  require_tables(library);
}

void read(jpeg_decompress_struct& library, std::size_t count, std::byte* pixels,
          std::size_t stride) {
  library.num_components == 4 ? read_inks(library, count, pixels, stride)
                              : read_rows(library, count, pixels, stride);
}

// False when libjpeg gave up; self.problem then says why. No object with a destructor lives here.
bool read_all(Decompressor& self, Shape shape, std::byte* pixels) {
  if (setjmp(self.give_up) != 0) {
    jpeg_abort_decompress(&self.library);
    return false;
  }
  start(self, shape);
  read(self.library, shape.height, pixels, std::size_t{shape.width} * shape.channels);
  jpeg_finish_decompress(&self.library);
  return true;
}

// `rows` is part.height rows of part_stride; `before` becomes the number of pixels in front of the
// part.
bool read_part(Decompressor& self, Shape shape, const Rect& part, std::byte* rows,
               std::size_t& before) {
  jpeg_decompress_struct& library = self.library;
  if (setjmp(self.give_up) != 0) {
    jpeg_abort_decompress(&library);
    return false;
  }
  start(self, shape);
  JDIMENSION x = part.x - std::min(part.x, neighbours);
  JDIMENSION width = std::min(part.x + part.width + neighbours, shape.width) - x;
  if (width < shape.width) jpeg_crop_scanline(&library, &x, &width);
  before = part.x - x;
  if (part.y > 0) jpeg_skip_scanlines(&library, part.y);
  read(library, part.height, rows, part_stride(part, shape));
  jpeg_abort_decompress(&library);  // the rows below are not even looked for
  return true;
}

Decompressor& ready_for(Bytes encoded) {
  thread_local const auto own = std::make_unique<Decompressor>();
  own->source.next_input_byte = reinterpret_cast<const JOCTET*>(encoded.data());
  own->source.bytes_in_buffer = encoded.size();
  forget_tables(*own);
  return *own;
}

[[noreturn]] void damaged(const Decompressor& self, Bytes encoded) {
  throw Error(join("JPEG is damaged near byte ", encoded.size() - self.source.bytes_in_buffer, ": ",
                   self.problem));
}

}  // namespace

void decode_jpeg(Bytes encoded, Shape shape, MutableBytes pixels) {
  assert(pixels.size() == shape.bytes());
  Decompressor& self = ready_for(encoded);
  if (!read_all(self, shape, pixels.data())) damaged(self, encoded);
}

PixelRows decode_jpeg_part(Bytes encoded, Shape shape, const Rect& part, Buffer& memory) {
  assert(part.height > 0 && part.height <= shape.height - part.y);
  assert(part.width > 0 && part.width <= shape.width - part.x);
  const std::size_t stride = part_stride(part, shape);
  const MutableBytes rows = grown(memory, part.height * stride);
  std::size_t before = 0;
  Decompressor& self = ready_for(encoded);
  if (!read_part(self, shape, part, rows.data(), before)) damaged(self, encoded);
  return {rows.data() + before * shape.channels, stride};
}

}  // namespace feedrate
