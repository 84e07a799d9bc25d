#include "formats/digests/fingerprint.h"

#include <xxhash.h>

#include <algorithm>

namespace feedrate::formats {

std::uint64_t fingerprint(Bytes bytes, std::uint64_t seed) {
  const std::uint64_t hash = XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
  return std::max<std::uint64_t>(hash, 1);
}

}  // namespace feedrate::formats
