// Max pooling. Forward saves the position of each window's largest value; backward gathers, so that
// no two threads add to the same sum.

#include <algorithm>

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/ops/pool_window.h"

namespace feedrate::trainer::cuda {
namespace {

struct PoolSides {
  PoolGeometry g;
  ImageLayout in;
  ImageLayout out;
};

struct Winner {
  float value;
  std::uint8_t position;  // in the window
};

template <class T, unsigned lanes>
struct MaxPoolForward {
  PoolSides s;
  const T* input;
  T* output;
  std::uint8_t* winners;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const PoolGeometry& g = s.g;
    const T* values = input + image * s.in.elements();
    const std::uint32_t channel = s.out.channel(e);
    const PoolSpot out = pool_spot(s.out.pixel(e), g.out_width);
    const PoolRange rows = pool_inputs(g, out.row, g.height);
    const PoolRange columns = pool_inputs(g, out.column, g.width);
    Winner best[lanes] = {};
    for (std::int32_t row = rows.begin; row < rows.end; ++row) {
      for (std::int32_t column = columns.begin; column < columns.end; ++column) {
        const auto pixel = static_cast<std::uint32_t>(row * g.width + column);
        const auto found = load<T, lanes>(values + s.in.offset(channel, pixel));
        const std::uint8_t position = pool_position(g, out.row, out.column, row, column);
        const bool first = row == rows.begin && column == columns.begin;
        for (unsigned k = 0; k < lanes; ++k) {
          const float x = found.values[k];
          if (first || wins(x, best[k].value)) best[k] = {x, position};
        }
      }
    }
    const std::int64_t offset = image * s.out.elements() + e;
    Lanes<T, lanes> won;
    ByteLanes<lanes> positions;
    for (unsigned k = 0; k < lanes; ++k) {
      won.values[k] = best[k].value;
      positions.values[k] = best[k].position;
    }
    store(output + offset, won);
    store_bytes(winners + offset, positions);
  }
};

/// The gradient of the input, gathered from the windows that a value has won.
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

template <class T, unsigned lanes>
struct MaxPoolBackward {
  PoolGradient<T, lanes> gradient;
  T* input_gradient;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    store(input_gradient + image * gradient.s.in.elements() + e, gradient(image, e));
  }
};

template <class T>
class MaxPoolLayer final : public LayerOf<T> {
 public:
  explicit MaxPoolLayer(const LayerSite& site)
      : context_(site.context),
        batch_(site.batch),
        sides_{pool_geometry(site.node().attributes, site.input, site.node().extent),
               image_layout(site.input), image_layout(site.node().extent)} {}

  std::size_t saved_bytes() const override {
    return static_cast<std::size_t>(batch_ * sides_.out.elements());
  }

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step&) override {
    with_lanes<T>(sides_.in.channels, [&](auto lanes) {
      each_of_images(
          context_, "max_pool forward", batch_, sides_.out.elements(),
          MaxPoolForward<T, lanes>{sides_, buffers.input, buffers.output, winners(buffers)}, lanes);
    });
  }
  void run_backward(const BuffersOf<T>& buffers, const Step&) override {
    if (buffers.input_gradient == nullptr) return;
    with_lanes<T>(sides_.in.channels, [&](auto lanes) {
      each_of_images(context_, "max_pool backward", batch_, sides_.in.elements(),
                     MaxPoolBackward<T, lanes>{{sides_, buffers.output_gradient, winners(buffers)},
                                               buffers.input_gradient},
                     lanes);
    });
  }

 private:
  static std::uint8_t* winners(const BuffersOf<T>& buffers) {
    return reinterpret_cast<std::uint8_t*>(buffers.saved);
  }

  const Context& context_;
  std::int64_t batch_;
  PoolSides sides_;
};

}  // namespace

std::unique_ptr<Layer> make_max_pool_layer(const LayerSite& site) {
  return make_typed<MaxPoolLayer>(site);
}

}  // namespace feedrate::trainer::cuda
