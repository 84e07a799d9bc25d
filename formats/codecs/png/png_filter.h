#pragma once
// PNG's row filters (PNG specification, 9): each byte minus a prediction from its neighbours.
// Stateless.

#include <cstddef>
#include <cstdint>

#include "formats/base/bytes.h"

namespace feedrate::formats {

inline constexpr std::size_t png_filters = 5;  // none, left, above, average, Paeth
/// Bytes in front of and behind a row that filter_row may read; those in front are zeros.
inline constexpr std::size_t row_margin = 16;

/// Five candidates for one row, each preceded by its filter's number.
class FilteredRow {
 public:
  /// Sets the size of rows to `bytes` bytes, with `pixel_bytes` (1 or 3) for each pixel.
  void set_size(std::size_t bytes, std::size_t pixel_bytes);
  /// Filters `row` all five ways. `above` is the row above it, or zeros for the first row; both lie
  /// in buffers with margins. Returns the candidate whose bytes, taken as signed, have the smallest
  /// sum of magnitudes, which is libpng's choice: the filter's number, then set_size's bytes.
  Bytes filter(const std::byte* row, const std::byte* above);

 private:
  std::size_t bytes_ = 0;
  std::size_t pixel_bytes_ = 0;
  std::size_t stride_ = 0;
  Buffer candidates_;
};

/// Undoes the filter of `row`, whose number precedes its `bytes` bytes, given the unfiltered row
/// above. False for a number that PNG does not define. Reads up to row_margin bytes behind `row`,
/// and one behind `above`: the first of `to`, where that follows.
bool unfilter_row(const std::byte* row, const std::byte* above, std::size_t bytes,
                  std::size_t pixel_bytes, std::byte* to);

}  // namespace feedrate::formats
