#pragma once
// The libjpeg-turbo decompressor of a thread, shared by the files here that read JPEGs. It survives
// errors, and no image affects the next one.
//
// libjpeg leaves functions by longjmp. So neither what it calls nor what calls it, up to the
// function with the setjmp(give_up), may have an object with a destructor; what both sides see
// lives in this struct. After a longjmp, and when done: jpeg_abort_decompress.

#include <csetjmp>

#include "formats/base/bytes.h"
#include "formats/base/error.h"

struct jpeg_decompress_struct;

namespace feedrate::formats {

struct JpegDecompressor {
  jpeg_decompress_struct* library = nullptr;
  std::jmp_buf give_up{};
  char problem[200] = "";  // why it gave up
  bool ended = false;      // it gave up because the bytes ended
  char doubt[200] = "";  // libjpeg's warning of bytes that no code accounts for, where it gave one
};

/// What the end of the bytes means: damage, or that the marker of the image's end stands there.
enum class JpegEnd { truncation, end_of_image };

/// This thread's decompressor, ready to read the header of `encoded`.
JpegDecompressor& jpeg_decompressor_for(Bytes encoded, JpegEnd end = JpegEnd::truncation);
/// Leaves by longjmp; call it only after the setjmp.
[[noreturn]] void give_up(jpeg_decompress_struct& library, const char* problem);
/// Gives up unless every component has its quantisation table. For a file with several scans, call
/// it after all are read: a component without a table then has no scan.
void require_tables(jpeg_decompress_struct& library);
/// The Error of a decompressor that gave up. Offsets in `encoded` are reported with `before` added.
Error jpeg_damage(const JpegDecompressor& self, Bytes encoded, std::size_t before = 0);
/// Throws it.
[[noreturn]] void jpeg_is_damaged(const JpegDecompressor& self, Bytes encoded,
                                  std::size_t before = 0);

}  // namespace feedrate::formats
