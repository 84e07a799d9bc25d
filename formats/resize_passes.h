#pragma once
// The two inner loops of resizing, in plain C++ and for AVX2. They give the same bytes: sums of
// integers, which no order of adding changes.

#include <array>
#include <cstddef>

#include "formats/resize_axis.h"

namespace feedrate {

struct ResizePasses {
  /// Two rows of axis.from pixels to two of axis.to. The two may be the same row.
  void (*across)(const ResizeAxis& axis, std::size_t channels, std::array<const std::byte*, 2> from,
                 std::array<std::byte*, 2> to);
  /// `bytes` of target row `target` from the source rows that weigh in it, axis.stride pointers;
  /// those behind its count may be any readable row.
  void (*down)(const ResizeAxis& axis, std::size_t target, const std::byte* const* rows,
               std::size_t bytes, std::byte* to);
};

/// Anywhere; the referee of the other one.
extern const ResizePasses plain_resize_passes;
/// For CPUs with AVX2.
extern const ResizePasses avx2_resize_passes;
/// The faster one that this CPU can run.
const ResizePasses& resize_passes();

}  // namespace feedrate
