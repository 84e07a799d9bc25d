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
    Lanes<T, lanes> sum{};
    for (std::int32_t row = rows.begin; row < rows.end; ++row) {
      for (std::int32_t column = columns.begin; column < columns.end; ++column) {
        const auto pixel = static_cast<std::uint32_t>(row * g.out_width + column);
        const std::int64_t offset = image * s.out.elements() + s.out.offset(channel, pixel);
        const std::uint8_t mine = pool_position(g, row, column, in.row, in.column);
        const auto gradients = load<T, lanes>(output_gradient + offset);
        const auto won = load_bytes<lanes>(winners + offset);
        for (unsigned k = 0; k < lanes; ++k) {
          if (won.values[k] == mine) sum.values[k] += gradients.values[k];
        }
      }
    }
    return sum;
  }
};

}  // namespace feedrate::trainer::cuda
