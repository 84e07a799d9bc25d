#pragma once
// Checksums by ISA-L, which has the instructions that a CPU has for them. Stateless.

#include <cstdint>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// CRC-32 of gzip, zip and PNG.
std::uint32_t zip_crc32(Bytes bytes);
/// CRC-32C (Castagnoli) of what came before, whose CRC is `before`, and `bytes`.
std::uint32_t crc32c(Bytes bytes, std::uint32_t before = 0);
/// Adler-32 of zlib.
std::uint32_t adler32_of(Bytes bytes);

/// To be called after other functions of ISA-L. They leave the upper halves of the vector registers
/// in use, and all SSE code that follows on that thread then waits for registers it does not want:
/// PNG's filters took 3.6 times as long.
void clear_upper_halves();

}  // namespace feedrate::formats
