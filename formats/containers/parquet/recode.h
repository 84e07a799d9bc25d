#pragma once
// Parquet's encodings that write values by what they differ in, or byte by byte: DELTA_BINARY_PACKED,
// DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY, BYTE_STREAM_SPLIT. Their values are written anew as PLAIN.

#include <cstdint>

#include "formats/containers/parquet/page.h"

namespace feedrate::formats {

/// True for those, as Parquet numbers them.
bool is_recoded(std::int32_t encoding);

/// Appends the page's values in PLAIN to `plain`. Throws Error, without naming the file, for damage, and for an encoding that
/// is none of the type's.
void recode_parquet_values(const ParquetPage& page, ParquetType type, Bytes values, Buffer& plain);

}  // namespace feedrate::formats
