#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>
#include <memory>
#include <new>

// jpeglib.h needs <cstdio> before it.
#include <jerror.h>
#include <jpeglib.h>

#include "formats/base/error.h"
#include "formats/codecs/jpeg/jpeg_decompressor.h"

namespace feedrate::formats {
namespace {

constexpr long max_memory = 2L << 30;  // bytes: coefficients of 260 million pixels of a component
constexpr int max_scans = 100;         // encoders use about ten; each is a pass over the image

constexpr JOCTET end_of_image[] = {0xff, JPEG_EOI};

static_assert(sizeof JpegDecompressor::problem >= JMSG_LENGTH_MAX);

struct Decompressor : JpegDecompressor {
  jpeg_decompress_struct own{};
  jpeg_error_mgr errors{};
  jpeg_source_mgr source{};
  jpeg_progress_mgr progress{};
  Bytes encoded;
  JpegEnd end = JpegEnd::truncation;
  // The standard tables, which libjpeg assumes where a file has none (Motion JPEG omits them).
  std::array<JHUFF_TBL, 2> usual_dc{};
  std::array<JHUFF_TBL, 2> usual_ac{};

  Decompressor();
  // Whether the bytes have ended, and the marker is not theirs.
  bool at_assumed_end() const {
    return source.next_input_byte >= end_of_image &&
           source.next_input_byte <= std::end(end_of_image);
  }
  ~Decompressor() { jpeg_destroy_decompress(&own); }
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

// Whether the `count` bytes in front of `end` are all 00 or FF, with which encoders fill up.
bool is_padding(Bytes encoded, const std::byte* end, int count) {
  const auto before = static_cast<std::size_t>(end - encoded.data());
  const Bytes last = encoded.first(before).last(std::min(before, static_cast<std::size_t>(count)));
  return std::all_of(last.begin(), last.end(), [](std::byte byte) {
    return byte == std::byte{0} || byte == std::byte{0xff};
  });
}

// A warning means that pixels were guessed, unless it is one of these.
bool is_harmless(const jpeg_error_mgr& message) {
  switch (message.msg_code) {
    case JWRN_JFIF_MAJOR:       // an unknown version of JFIF
    case JWRN_ADOBE_XFORM:      // an unknown colour transform: the usual one is assumed
    case JWRN_NOT_SEQUENTIAL:   // zeros where a baseline scan states its fixed range
    case JWRN_EXTRANEOUS_DATA:  // webcams put bytes in front of restart markers
      return true;
    default:
      return false;
  }
}

// libjpeg warns of bytes that no code accounts for, wherever they are. Behind the first scan's header,
// they may be what is left of lost codes.
void note_doubt(Decompressor& self) {
  const jpeg_error_mgr& message = self.errors;
  if (message.msg_code != JWRN_EXTRANEOUS_DATA || self.own.input_scan_number == 0) return;
  const auto* at = reinterpret_cast<const std::byte*>(self.source.next_input_byte);
  if (self.doubt[0] != 0 || self.at_assumed_end() ||
      is_padding(self.encoded, at, message.msg_parm.i[0])) {
    return;
  }
  std::snprintf(self.doubt, sizeof self.doubt,
                "%d bytes before the marker at byte %td belong to no code", message.msg_parm.i[0],
                at - self.encoded.data());
}

void on_message(j_common_ptr library, int level) {
  if (level >= 0) return;
  if (!is_harmless(*library->err)) on_error(library);
  note_doubt(owner(library));
}

void on_start(j_decompress_ptr) {}

boolean on_end_of_bytes(j_decompress_ptr library) {
  Decompressor& self = owner(reinterpret_cast<j_common_ptr>(library));
  if (self.end == JpegEnd::end_of_image) {
    self.source.next_input_byte = end_of_image;
    self.source.bytes_in_buffer = sizeof end_of_image;
    return TRUE;
  }
  self.ended = true;
  give_up(reinterpret_cast<j_common_ptr>(library), "it ends too early: truncated?");
}

void on_skip(j_decompress_ptr library, long count) {
  if (count <= 0) return;
  jpeg_source_mgr& source = *library->src;
  if (static_cast<std::size_t>(count) > source.bytes_in_buffer) {
    on_end_of_bytes(library);
    return;
  }
  source.next_input_byte += count;
  source.bytes_in_buffer -= static_cast<std::size_t>(count);
}

void on_progress(j_common_ptr library) {
  const auto* decompressor = reinterpret_cast<j_decompress_ptr>(library);
  if (decompressor->input_scan_number > max_scans) {
    give_up(library, "more scans than any encoder writes");
  }
}

// False when libjpeg could not even be started: out of memory. There are two such functions,
// because each needs a setjmp for its own kind of object.
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
    jpeg_destroy_decompress(&self.own);
    return false;
  }
  jpeg_create_decompress(&self.own);
  return true;
}

Decompressor::Decompressor() {
  library = &own;
  own.err = jpeg_std_error(&errors);
  own.client_data = this;
  errors.error_exit = on_error;
  errors.emit_message = on_message;
  if (!copy_usual_tables(*this) || !create(*this)) throw std::bad_alloc();
  source.init_source = on_start;
  source.fill_input_buffer = on_end_of_bytes;
  source.skip_input_data = on_skip;
  source.resync_to_restart = jpeg_resync_to_restart;
  source.term_source = on_start;
  progress.progress_monitor = on_progress;
  own.src = &source;
  own.progress = &progress;
  own.mem->max_memory_to_use = max_memory;
}

// libjpeg keeps tables from image to image, for abbreviated files. An image that lacks its own must
// not be decoded with its predecessor's. So Huffman tables become the standard ones or ones that
// libjpeg refuses, and quantisation tables become zeros, which require_tables() finds. A file's own may hold some zeros.
void forget_tables(Decompressor& self) {
  JHUFF_TBL refused{};
  std::fill_n(refused.bits + 1, 16, UINT8{255});
  for (std::size_t i = 0; i < NUM_HUFF_TBLS; ++i) {
    const bool usual = i < self.usual_dc.size();
    JHUFF_TBL* dc = self.own.dc_huff_tbl_ptrs[i];
    JHUFF_TBL* ac = self.own.ac_huff_tbl_ptrs[i];
    if (dc != nullptr) *dc = usual ? self.usual_dc[i] : refused;
    if (ac != nullptr) *ac = usual ? self.usual_ac[i] : refused;
  }
  for (JQUANT_TBL* table : self.own.quant_tbl_ptrs) {
    if (table != nullptr) std::fill_n(table->quantval, DCTSIZE2, UINT16{0});
  }
}

}  // namespace

JpegDecompressor& jpeg_decompressor_for(Bytes encoded, JpegEnd end) {
  thread_local const auto own = std::make_unique<Decompressor>();
  own->encoded = encoded;
  own->end = end;
  own->ended = false;
  own->doubt[0] = 0;
  own->source.next_input_byte = reinterpret_cast<const JOCTET*>(encoded.data());
  own->source.bytes_in_buffer = encoded.size();
  forget_tables(*own);
  return *own;
}

void give_up(jpeg_decompress_struct& library, const char* problem) {
  give_up(reinterpret_cast<j_common_ptr>(&library), problem);
}

void require_tables(jpeg_decompress_struct& library) {
  for (int i = 0; i < library.num_components; ++i) {
    const JQUANT_TBL* table = library.comp_info[i].quant_table;
    if (table == nullptr) give_up(library, "a component has no scan");
    const UINT16* end = table->quantval + DCTSIZE2;
    if (std::all_of(table->quantval, end, [](UINT16 value) { return value == 0; })) {
      give_up(library, "a quantisation table is missing");
    }
  }
}

Error jpeg_damage(const JpegDecompressor& self, Bytes encoded, std::size_t before) {
  return Error(join("JPEG is damaged near byte ",
                    before + encoded.size() - self.library->src->bytes_in_buffer, ": ",
                    self.problem));
}

void jpeg_is_damaged(const JpegDecompressor& self, Bytes encoded, std::size_t before) {
  throw jpeg_damage(self, encoded, before);
}

}  // namespace feedrate::formats
