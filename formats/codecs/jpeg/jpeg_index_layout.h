#pragma once
// Where things are in an entry of a crop index; jpeg_index.h draws it.

#include "formats/base/bytes.h"

namespace feedrate::formats::jpeg_index {

inline constexpr std::size_t hash_at = 8, size_at = 16, scan_at = 20, mcus_at = 24, step_at = 28,
                             components_at = 30, orders_at = 31, points_at = 36;
/// Zeros behind the points, so that they can be read in words.
inline constexpr std::size_t padding = sizeof(std::uint64_t);

// A code is read from a word of which at least 57 bits are valid.
inline constexpr unsigned max_zeros = 17, max_order = 20;
static_assert(2 * max_zeros + 1 + max_order <= 57);

}  // namespace feedrate::formats::jpeg_index
