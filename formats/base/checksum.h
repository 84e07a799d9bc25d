#pragma once
// Checksums by ISA-L, which uses the best instructions that the CPU has. Stateless.

#include <cstdint>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// CRC-32 of gzip, zip and PNG.
std::uint32_t zip_crc32(Bytes bytes);
/// Continues the CRC-32C (Castagnoli) `before` with `bytes`.
std::uint32_t crc32c(Bytes bytes, std::uint32_t before = 0);
/// Adler-32, as in zlib.
std::uint32_t adler32_of(Bytes bytes);

/// Call this after other functions of ISA-L. They leave the upper halves of the vector registers
/// dirty, which slows down all SSE code that follows on the thread: PNG's filters took 3.6 times as
/// long.
void clear_upper_halves();

}  // namespace feedrate::formats
