#pragma once
// Which inputs an output of average pooling reads, along one side, and the inverse; for host and
// device. There are two kinds of windows: those that slide (kernel, stride, pad), and `bins`, which
// divide a side as evenly as whole numbers allow (PyTorch's adaptive pooling; one bin covers the
// whole side). The geometry of bins has a kernel of 0.

#include <cstdint>

#include "trainer/ops/pool_window.h"

namespace feedrate::trainer {

/// The inputs, of `side`, that output `output` of `out_side` reads.
constexpr PoolRange avg_inputs(const PoolGeometry& g, std::int32_t output, std::int32_t side,
                               std::int32_t out_side) {
  if (g.kernel != 0) return pool_inputs(g, output, side);
  return {output * side / out_side, ((output + 1) * side + out_side - 1) / out_side};
}

/// The outputs, of `out_side`, that read input `input` of `side`.
constexpr PoolRange avg_outputs(const PoolGeometry& g, std::int32_t input, std::int32_t side,
                                std::int32_t out_side) {
  if (g.kernel != 0) return pool_outputs(g, input, out_side);
  return {input * out_side / side, ((input + 1) * out_side + side - 1) / side};
}

}  // namespace feedrate::trainer
