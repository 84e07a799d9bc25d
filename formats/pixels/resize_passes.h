#pragma once
// The two inner loops of resizing, in plain C++, for AVX2 and for AVX-512. They give the same
// bytes: sums of integers, which no order of adding changes.

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "formats/pixels/resize_axis.h"

namespace feedrate::formats {

struct ResizePasses {
  std::string_view name;
  /// Makes of an axis what the loops below need. Without effect when it is there already.
  void (*prepare_across)(ResizeAxis& axis, std::size_t channels);
  void (*prepare_down)(ResizeAxis& axis);
  /// Two rows of axis.from pixels to two of axis.to. The two may be the same row.
  void (*across)(const ResizeAxis& axis, std::size_t channels, std::array<const std::byte*, 2> from,
                 std::array<std::byte*, 2> to);
  /// `bytes` of target row `target` from the source rows that weigh in it, axis.stride pointers;
  /// those behind its count may be any readable row, up to the next multiple of four.
  void (*down)(const ResizeAxis& axis, std::size_t target, const std::byte* const* rows,
               std::size_t bytes, std::byte* to);
};

/// Anywhere; the referee of the others.
extern const ResizePasses plain_resize_passes;
extern const ResizePasses avx2_resize_passes;
/// Also needs AVX-512's VBMI and VNNI: Ice Lake, Zen 4 and later.
extern const ResizePasses avx512_resize_passes;
/// Those that this CPU can run, the fastest first.
std::span<const ResizePasses* const> runnable_resize_passes();
inline const ResizePasses& resize_passes() { return *runnable_resize_passes().front(); }

}  // namespace feedrate::formats
