#pragma once
// The two inner loops of resizing, in plain C++, by vectors of any processor, for AVX2 and for AVX-512.
// All give the same bytes, because integer sums do not depend on the order of adding.

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "formats/pixels/resize_axis.h"

namespace feedrate::formats {

struct ResizePasses {
  std::string_view name;
  /// Prepares an axis for the loops below, unless that has been done.
  void (*prepare_across)(ResizeAxis& axis, std::size_t channels);
  void (*prepare_down)(ResizeAxis& axis);
  /// Resizes two rows of axis.from pixels to two of axis.to. The two rows may be the same.
  void (*across)(const ResizeAxis& axis, std::size_t channels, std::array<const std::byte*, 2> from,
                 std::array<std::byte*, 2> to);
  /// Computes `bytes` bytes of target row `target` from the source rows that weigh in it. `rows`
  /// has axis.stride pointers; those after the row's count, up to the next multiple of four, may
  /// point to any readable row.
  void (*down)(const ResizeAxis& axis, std::size_t target, const std::byte* const* rows,
               std::size_t bytes, std::byte* to);
};

/// Plain C++ for any CPU; the reference for the others.
extern const ResizePasses plain_resize_passes;
/// For any CPU, too; faster where four products of 32 bits are one instruction, as on ARM.
extern const ResizePasses lanes_resize_passes;
extern const ResizePasses avx2_resize_passes;
/// Needs AVX-512 with VBMI and VNNI: Ice Lake, Zen 4 and later.
extern const ResizePasses avx512_resize_passes;
/// Those that this CPU can run, the fastest first.
std::span<const ResizePasses* const> runnable_resize_passes();
inline const ResizePasses& resize_passes() { return *runnable_resize_passes().front(); }

}  // namespace feedrate::formats
