#pragma once
// The bytes of a tar, shared by its reader and its writer: POSIX ustar, as `man 5 tar` draws it.
//
//   header, 512 bytes │ data │ zeros up to the next 512 │ header │ … │ two blocks of zeros │ zeros

#include <cstddef>
#include <cstdint>

#include "formats/base/bytes.h"

namespace feedrate::formats {

inline constexpr std::size_t tar_block = 512;
inline constexpr std::size_t tar_record = 20 * tar_block;  // what archives are padded to

/// A field of a header: its offset and its size in bytes.
struct TarField {
  std::size_t offset;
  std::size_t size;
};
namespace tar_field {
inline constexpr TarField name{0, 100};
inline constexpr TarField mode{100, 8};
inline constexpr TarField uid{108, 8};
inline constexpr TarField gid{116, 8};
inline constexpr TarField size{124, 12};
inline constexpr TarField mtime{136, 12};
inline constexpr TarField checksum{148, 8};
inline constexpr TarField type{156, 1};
inline constexpr TarField magic{257, 8};  // includes the version
inline constexpr TarField user{265, 32};
inline constexpr TarField group{297, 32};
inline constexpr TarField prefix{345, 155};  // precedes the name, with a slash between
}  // namespace tar_field

/// The header's checksum: the sum of its bytes, with the checksum field itself taken as blanks.
inline std::uint32_t tar_checksum(const std::byte* header) {
  constexpr TarField field = tar_field::checksum;
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < tar_block; ++i) sum += std::to_integer<std::uint32_t>(header[i]);
  for (std::size_t i = 0; i < field.size; ++i) {
    sum += ' ' - std::to_integer<std::uint32_t>(header[field.offset + i]);
  }
  return sum;
}

/// `size` with the zeros that follow. The caller has checked that it does not overflow.
inline std::uint64_t tar_padded(std::uint64_t size) { return round_up(size, tar_block); }

}  // namespace feedrate::formats
