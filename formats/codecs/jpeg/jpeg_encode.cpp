// Huffman tables made for each image would save 5 % of a photograph's size in three times the time
// (27 % of a CIFAR-10 image, in seven times), and give other bytes than other tools write. Not
// worth it.

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
#include "formats/codecs/jpeg/jpeg.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t rows_at_once = 16;
constexpr std::size_t block_size = std::size_t{32} << 10;

// As in jpeg_decode.cpp: no object with a destructor between setjmp and longjmp.
struct Compressor {
  jpeg_compress_struct library{};
  jpeg_error_mgr errors{};
  jpeg_destination_mgr destination{};
  std::jmp_buf give_up{};
  char problem[JMSG_LENGTH_MAX] = "";
  bool out_of_memory = false;
  Buffer* encoded = nullptr;
  std::array<JOCTET, block_size> block;  // written by libjpeg, then appended to `encoded`

  Compressor();
  ~Compressor() { jpeg_destroy_compress(&library); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
};

Compressor& owner(j_common_ptr library) { return *static_cast<Compressor*>(library->client_data); }

[[noreturn]] void on_error(j_common_ptr library) {
  Compressor& self = owner(library);
  if (library->err->msg_code == JERR_OUT_OF_MEMORY) self.out_of_memory = true;
  (*library->err->format_message)(library, self.problem);
  std::longjmp(self.give_up, 1);
}

void on_message(j_common_ptr, int) {}

void empty_block(Compressor& self) {
  self.destination.next_output_byte = self.block.data();
  self.destination.free_in_buffer = self.block.size();
}

void append_block(Compressor& self, std::size_t size) {
  try {
    append(*self.encoded, std::as_bytes(std::span(self.block.data(), size)));
  } catch (const std::bad_alloc&) {
    self.out_of_memory = true;
  }
  if (self.out_of_memory) std::longjmp(self.give_up, 1);
  empty_block(self);
}

void on_start(j_compress_ptr library) {
  empty_block(owner(reinterpret_cast<j_common_ptr>(library)));
}

boolean on_full_block(j_compress_ptr library) {
  append_block(owner(reinterpret_cast<j_common_ptr>(library)), block_size);
  return TRUE;
}

void on_end(j_compress_ptr library) {
  append_block(owner(reinterpret_cast<j_common_ptr>(library)),
               block_size - library->dest->free_in_buffer);
}

bool create(Compressor& self) {
  if (setjmp(self.give_up) != 0) {
    jpeg_destroy_compress(&self.library);
    return false;
  }
  jpeg_create_compress(&self.library);
  return true;
}

Compressor::Compressor() {
  library.err = jpeg_std_error(&errors);
  library.client_data = this;
  errors.error_exit = on_error;
  errors.emit_message = on_message;
  if (!create(*this)) throw std::bad_alloc();
  destination.init_destination = on_start;
  destination.empty_output_buffer = on_full_block;
  destination.term_destination = on_end;
  library.dest = &destination;
}

bool write_pixels(Compressor& self, const ImageView& image, int quality) {
  jpeg_compress_struct& library = self.library;
  if (setjmp(self.give_up) != 0) {
    jpeg_abort_compress(&library);
    return false;
  }
  library.image_width = image.shape.width;
  library.image_height = image.shape.height;
  library.input_components = static_cast<int>(image.shape.channels);
  library.in_color_space = image.shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&library);
  jpeg_set_quality(&library, quality, TRUE);
  jpeg_start_compress(&library, TRUE);
  const std::size_t row_bytes = std::size_t{image.shape.width} * image.shape.channels;
  // libjpeg takes writable rows but does not write to them.
  auto* pixels = reinterpret_cast<JSAMPLE*>(const_cast<std::byte*>(image.pixels.data()));
  while (library.next_scanline < library.image_height) {
    JSAMPROW rows[rows_at_once];
    const std::size_t count =
        std::min<std::size_t>(rows_at_once, library.image_height - library.next_scanline);
    for (std::size_t i = 0; i < count; ++i) {
      rows[i] = pixels + (library.next_scanline + i) * row_bytes;
    }
    jpeg_write_scanlines(&library, rows, static_cast<JDIMENSION>(count));
  }
  jpeg_finish_compress(&library);
  return true;
}

}  // namespace

void encode_jpeg(const ImageView& image, int quality, Buffer& encoded) {
  thread_local const auto own = std::make_unique<Compressor>();
  Compressor& self = *own;
  encoded.clear();
  self.encoded = &encoded;
  self.out_of_memory = false;
  if (write_pixels(self, image, quality)) return;
  if (self.out_of_memory) throw std::bad_alloc();
  throw Error(join("cannot write a JPEG of ", image.shape.height, "x", image.shape.width, ": ",
                   self.problem));
}

}  // namespace feedrate::formats
