#pragma once
// Loops over the channels of a pixel, which are often few and seldom a multiple of a vector's
// width. They are cut into chunks of fixed widths, so that each chunk stays in registers. For use
// inside functions marked FEEDRATE_VECTOR.

#include <cstdint>
#include <type_traits>

namespace feedrate::trainer::cpu {

/// Calls body(first, width) for each chunk of [0, count); `width` is a constant of 16, 4 or 1.
template <class Body>
[[gnu::always_inline]] inline void for_lanes(std::int64_t count, const Body& body) {
  std::int64_t lane = 0;
  for (; lane + 16 <= count; lane += 16) body(lane, std::integral_constant<int, 16>());
  for (; lane + 4 <= count; lane += 4) body(lane, std::integral_constant<int, 4>());
  for (; lane < count; ++lane) body(lane, std::integral_constant<int, 1>());
}

}  // namespace feedrate::trainer::cpu
