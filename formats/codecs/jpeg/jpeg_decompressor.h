#pragma once
// libjpeg-turbo's decompressor of a thread, for the files here that read JPEGs with it. It survives
// errors, and what an image leaves behind never reaches the next one.
//
// libjpeg leaves a function by longjmp. So nothing that it calls or is called from, up to the
// setjmp(give_up) of whoever uses a decompressor, may have a destructor; what both sides see lives
// in this struct. After a longjmp, and when done: jpeg_abort_decompress.

#include <csetjmp>

#include "formats/base/bytes.h"

struct jpeg_decompress_struct;

namespace feedrate::formats {

struct JpegDecompressor {
  jpeg_decompress_struct* library = nullptr;
  std::jmp_buf give_up{};
  char problem[200] = "";  // why it gave up
};

/// This thread's, about to read the header of `encoded`.
JpegDecompressor& jpeg_decompressor_for(Bytes encoded);
/// For use behind a setjmp.
[[noreturn]] void give_up(jpeg_decompress_struct& library, const char* problem);
/// Gives up unless every component has its quantisation table. Of a file with several scans all
/// have to be read: a component without a table has no scan.
void require_tables(jpeg_decompress_struct& library);
/// Throws the Error of a decompressor that gave up; the place is `before` bytes behind what was
/// read of `encoded`.
[[noreturn]] void jpeg_is_damaged(const JpegDecompressor& self, Bytes encoded,
                                  std::size_t before = 0);

}  // namespace feedrate::formats
