#pragma once
// One axis of resizing: how much each source pixel weighs in each target pixel.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace feedrate::formats {

inline constexpr int resize_bits = 22;  // weights are in units of 2^-22, as Pillow has them

/// A sum of pixels times weights, as a pixel; for host and device.
constexpr std::uint8_t resized_pixel(std::int32_t sum) {
  const std::int32_t pixel = (sum + (1 << (resize_bits - 1))) >> resize_bits;
  const std::int32_t positive = pixel > 0 ? pixel : 0;
  return static_cast<std::uint8_t>(positive < 255 ? positive : 255);
}

/// The filters, by Pillow's names. Both widen as the image shrinks.
enum class Interpolation : std::uint8_t { bilinear, bicubic };

/// Resizing `from` pixels to `to`, of which `count` are computed, from `begin` on; in reverse order
/// when mirrored. The pixels may lie in an image that was decoded at 1/`shrunk` of its size: they
/// then begin `offset` pixels behind the edge of a shrunk one, 0 ≤ offset < shrunk.
struct ResizeSpan {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
  bool mirrored = false;
  std::uint32_t shrunk = 1;
  std::uint32_t offset = 0;
  Interpolation interpolation = Interpolation::bilinear;

  bool operator==(const ResizeSpan&) const = default;
  /// True when the result equals the source, in its order.
  bool copies() const { return from == to && !mirrored && shrunk == 1; }
  /// How many pixels there are of the image that was decoded, parts of pixels included.
  constexpr std::uint32_t source() const { return (offset + from + shrunk - 1) / shrunk; }
};

struct PixelRange {
  std::uint32_t begin = 0;
  std::uint32_t count = 0;
};
/// The source pixels that a span needs, from the one on in which it begins.
PixelRange source_of(const ResizeSpan& span);
/// The most weights that a target pixel of the span can have.
std::size_t max_weights(const ResizeSpan& span);

struct ResizeAxis {
  ResizeSpan span;
  std::uint32_t from = 0;            // source pixels: those of source_of(span)
  std::uint32_t to = 0;              // target pixels: span.count
  std::uint32_t max_count = 0;       // the largest of `count`
  std::size_t stride = 0;            // weights stored for a target pixel; zeros after its count
  std::vector<std::uint32_t> first;  // source pixel of the first weight
  std::vector<std::uint32_t> count;  // number of weights of a target pixel
  std::vector<std::int32_t> weights;

  // Filled in by the passes of a CPU (ResizePasses::prepare_*). `prepared` is the bytes of a pixel
  // for an axis across, 1 for one down, 0 when nothing has been filled in yet.
  std::size_t prepared = 0;
  std::vector<std::int16_t> low, high;  // halves of the weights, for products of 16 bits
  std::vector<std::uint32_t> starts;    // for products of 8 bits; see resize_passes_avx512.cpp
  std::vector<std::uint32_t> table;

  /// Computes everything but what the passes fill in, unless it is there already. Of a span that
  /// copies, which no pass reads, the weights have no meaning.
  void set(const ResizeSpan& new_span);
};

}  // namespace feedrate::formats
