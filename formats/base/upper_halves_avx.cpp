#include "formats/base/upper_halves.h"

#include <immintrin.h>

namespace feedrate::formats {

__attribute__((target("avx"))) void zero_upper_halves() { _mm256_zeroupper(); }

}  // namespace feedrate::formats
