#pragma once
// PNG's row filters (the PNG specification, 9): each byte less what its neighbours predict.
// Stateless; SSE2, which every x86-64 has.

#include <cstddef>
#include <cstdint>

#include "formats/base/bytes.h"

namespace feedrate::formats {

inline constexpr std::size_t png_filters = 5;  // none, left, above, average, Paeth
/// Bytes in front of and behind a row that filter_row may read; those in front are zero.
inline constexpr std::size_t row_margin = 16;

/// Five candidates for one row, each after its filter's number.
class FilteredRow {
 public:
  /// Rows of `bytes` bytes; a pixel has `pixel_bytes` (1 or 3).
  void set_size(std::size_t bytes, std::size_t pixel_bytes);
  /// Filters `row`, which is below `above` (of the first row: zeros), all five ways. Both lie in
  /// buffers with margins. Returns the one whose bytes, taken as signed, have the smallest sum of
  /// magnitudes, as libpng chooses; set_size's bytes, and the number in front.
  Bytes filter(const std::byte* row, const std::byte* above);

 private:
  std::size_t bytes_ = 0;
  std::size_t pixel_bytes_ = 0;
  std::size_t stride_ = 0;
  Buffer candidates_;
};

/// Undoes the filter of `row`, whose number stands in front of its `bytes` bytes, given the row
/// above as it came out. False for a number that PNG does not know. Reads up to row_margin bytes
/// behind `row`, and one behind `above`: the first of `to`, where that follows.
bool unfilter_row(const std::byte* row, const std::byte* above, std::size_t bytes,
                  std::size_t pixel_bytes, std::byte* to);

}  // namespace feedrate::formats
