#pragma once
// Where things are in a crop index:
//
//   "FRCROPS\n" | u32 version | u32 0 | entries … | u64 offset of each entry, and their end |
//   u64 samples | u64 XXH3 of the offsets | u64 XXH3 of these 16 bytes and the first 16

#include <array>

#include "formats/base/bytes.h"
#include "formats/digests/fingerprint.h"

namespace feedrate::formats::crops {

inline constexpr std::string_view magic = "FRCROPS\n";
/// To be raised when entries become others, even if they are read as before: verify makes them again.
inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t head_bytes = 16, foot_bytes = 24;

inline std::uint64_t checksum(Bytes head, Bytes foot) {
  return fingerprint(foot.first(16), fingerprint(head.first(head_bytes)));
}

}  // namespace feedrate::formats::crops
