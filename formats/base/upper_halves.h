#pragma once
// One instruction of AVX, for formats/base/checksum.h.

namespace feedrate::formats {

/// Clears the upper halves of AVX's registers.
void zero_upper_halves();

}  // namespace feedrate::formats
