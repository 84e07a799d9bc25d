#pragma once
// One direction of resizing: how much each source pixel weighs in each target pixel.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace feedrate::formats {

inline constexpr int resize_bits = 22;  // weights are in units of 2^-22, as Pillow has them

/// `from` pixels would become `to`; `count` of these are made, from `begin` on, the last one first
/// when mirrored.
struct ResizeSpan {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
  bool mirrored = false;

  bool operator==(const ResizeSpan&) const = default;
  /// Whether what is made is what was there, in its order.
  bool copies() const { return from == to && !mirrored; }
};

struct PixelRange {
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
};
/// The source pixels that a span is made of.
PixelRange source_of(const ResizeSpan& span);

struct ResizeAxis {
  ResizeSpan span;
  std::uint32_t from = 0;            // source pixels: those of source_of(span)
  std::uint32_t to = 0;              // target pixels: span.count
  std::uint32_t most = 0;            // the largest count
  std::size_t stride = 0;            // weights kept for a target pixel, zeros behind its count
  std::vector<std::uint32_t> first;  // source pixel that the first weight is for
  std::vector<std::uint32_t> count;  // weights of a target pixel
  std::vector<std::int32_t> weights;

  // What the passes of a CPU make of them (ResizePasses::prepare_*): `prepared` is the pixel's
  // bytes across, 1 down, 0 when there is nothing yet.
  std::size_t prepared = 0;
  std::vector<std::int16_t> low, high;  // halves of the weights, for products of 16 bits
  std::vector<std::uint32_t> starts;    // for products of 8 bits; see resize_passes_avx512.cpp
  std::vector<std::uint32_t> table;

  /// Computes all but the last part, unless it is there already.
  void set(const ResizeSpan& new_span);
};

}  // namespace feedrate::formats
