#pragma once
// Windows of pooling, for host and device.

#include <cstdint>

#include "trainer/graph/graph.h"

namespace feedrate::trainer {

struct PoolGeometry {
  std::int32_t height;  // of the input plane
  std::int32_t width;
  std::int32_t out_height;
  std::int32_t out_width;
  std::int32_t kernel;  // of max pooling at most 15, so that a position in the window fits a byte
  std::int32_t stride;
  std::int32_t pad;  // less than kernel
};

/// The geometry of a max_pool or avg_pool node; its kernel is 0 for avg_pool with bins.
inline PoolGeometry pool_geometry(const Attributes& attributes, const Extent& in,
                                  const Extent& out) {
  const auto small = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  return {.height = small(in.height),
          .width = small(in.width),
          .out_height = small(out.height),
          .out_width = small(out.width),
          .kernel = attributes.contains("bins") ? 0 : small(attributes.integer("kernel")),
          .stride = small(attributes.integer("stride")),
          .pad = small(attributes.integer("pad"))};
}

struct PoolRange {
  std::int32_t begin;
  std::int32_t end;
};

/// The input positions, of `side`, that an output reads; at least one.
constexpr PoolRange pool_inputs(const PoolGeometry& g, std::int32_t output, std::int32_t side) {
  const std::int32_t begin = output * g.stride - g.pad;
  const std::int32_t end = begin + g.kernel;
  return {begin < 0 ? 0 : begin, end > side ? side : end};
}

/// The outputs, of `side`, that read an input position: the inverse of pool_inputs.
constexpr PoolRange pool_outputs(const PoolGeometry& g, std::int32_t input, std::int32_t side) {
  const std::int32_t reach = input + g.pad;
  const std::int32_t end = reach / g.stride + 1;
  return {reach < g.kernel ? 0 : (reach - g.kernel) / g.stride + 1, end > side ? side : end};
}

/// Position of input (y, x) in the window of output (row, column).
constexpr std::uint8_t pool_position(const PoolGeometry& g, std::int32_t row, std::int32_t column,
                                     std::int32_t y, std::int32_t x) {
  return static_cast<std::uint8_t>((y - row * g.stride + g.pad) * g.kernel +
                                   (x - column * g.stride + g.pad));
}

struct PoolSpot {
  std::int32_t row;
  std::int32_t column;
};
constexpr PoolSpot pool_spot(std::uint32_t pixel, std::int32_t width) {
  const auto w = static_cast<std::uint32_t>(width);
  return {static_cast<std::int32_t>(pixel / w), static_cast<std::int32_t>(pixel % w)};
}

/// Whether a later value of a window, in row order, replaces the best one: the largest wins, the
/// first of equals, and NaN always.
constexpr bool wins(float value, float best) { return value > best || value != value; }

}  // namespace feedrate::trainer
