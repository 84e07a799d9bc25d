#pragma once
// The numbers of MATLAB version 5 files that their reader and their writer share.

#include <cstddef>
#include <cstdint>

namespace feedrate::converters::mat {

inline constexpr std::size_t header_bytes = 128;
inline constexpr std::size_t tag_bytes = 8;

/// Types of elements.
enum Type : std::uint32_t {
  int8 = 1,
  uint8 = 2,
  int16 = 3,
  uint16 = 4,
  int32 = 5,
  uint32 = 6,
  single = 7,
  real = 9,
  int64 = 12,
  uint64 = 13,
  matrix = 14,
  compressed = 15,
  utf8 = 16,
  utf16 = 17,
};

/// Classes of arrays. From first_number on they are numbers of one kind or another.
enum Class : std::uint32_t {
  cell_class = 1,
  struct_class = 2,
  char_class = 4,
  first_number = 6,
  double_class = 6,
  uint8_class = 9,
  uint16_class = 11,
  uint32_class = 13,
  last_number = 15,
};

}  // namespace feedrate::converters::mat
