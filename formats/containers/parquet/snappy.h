#pragma once
// Snappy's raw format, in which most Parquet files compress their pages.

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// Decompresses all of `packed` into `into`, whose size the caller knows. Throws Error, without
/// naming the file, for damage and for another size.
void unpack_snappy(Bytes packed, MutableBytes into);

}  // namespace feedrate::formats
