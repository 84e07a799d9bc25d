#pragma once
// The gradient of a max_pool's input, gathered from the windows that a value has won. The pool's
// own backward uses it, or that of a norm before the pool.

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/ops/pool_window.h"

namespace feedrate::trainer::cuda {

struct PoolSides {
  PoolGeometry g;
  ImageLayout in;
  ImageLayout out;
};

template <class T, unsigned lanes>
struct PoolGradient {
  PoolSides s;
  const T* output_gradient;
  const std::uint8_t* winners;
  /// The gradients of the values from offset `e` of an image on.
  __device__ Lanes<T, lanes> operator()(std::int64_t image, std::uint32_t e) const {
    const PoolGeometry& g = s.g;
    const std::uint32_t channel = s.in.channel(e);
    const PoolSpot in = pool_spot(s.in.pixel(e), g.width);
    const PoolRange rows = pool_outputs(g, in.row, g.out_height);
    const PoolRange columns = pool_outputs(g, in.column, g.out_width);
    const std::int64_t first = image * s.out.elements() + channel;
    Lanes<T, lanes> sum{};
    for (std::int32_t row = rows.begin; row < rows.end; row += side) {
      for (std::int32_t column = columns.begin; column < columns.end; column += side) {
        add(in, first, {row, rows.end}, {column, columns.end}, sum);
      }
    }
    return sum;
  }

 private:
  /// Windows of a square are loaded at once, so that memory is waited for once. Few values are in
  /// more of them than in 2 x 2.
  static constexpr std::int32_t side = 2;

  __device__ void add(PoolSpot in, std::int64_t first, PoolRange rows, PoolRange columns,
                      Lanes<T, lanes>& sum) const {
    const PoolGeometry& g = s.g;
    Lanes<T, lanes> gradients[side * side];
    ByteLanes<lanes> won[side * side];
    for (std::int32_t w = 0; w < side * side; ++w) {
      // Beyond the end the last window is loaded once more, and not added.
      const std::int32_t row = std::min(rows.begin + w / side, rows.end - 1);
      const std::int32_t column = std::min(columns.begin + w % side, columns.end - 1);
      const std::int64_t offset = first + std::int64_t{row * g.out_width + column} * s.out.channels;
      gradients[w] = load<T, lanes>(output_gradient + offset);
      won[w] = load_bytes<lanes>(winners + offset);
    }
    for (std::int32_t w = 0; w < side * side; ++w) {
      const std::int32_t row = rows.begin + w / side, column = columns.begin + w % side;
      if (row >= rows.end || column >= columns.end) continue;
      const std::uint8_t mine = pool_position(g, row, column, in.row, in.column);
      for (unsigned k = 0; k < lanes; ++k) {
        if (won[w].values[k] == mine) sum.values[k] += gradients[w].values[k];
      }
    }
  }
};

}  // namespace feedrate::trainer::cuda
