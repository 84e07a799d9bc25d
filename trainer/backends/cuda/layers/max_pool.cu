// Max pooling. Forward saves the position of each window's largest value; backward gathers, so that
// no two threads add to the same sum.

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/ops/pool_window.h"

namespace feedrate::trainer::cuda {
namespace {

struct Sides {
  PoolGeometry g;
  ImageLayout in;
  ImageLayout out;
};

template <class T, unsigned lanes>
struct Forward {
  Sides s;
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
    PoolWinner best[lanes] = {};
    for (std::int32_t row = rows.begin; row < rows.end; ++row) {
      for (std::int32_t column = columns.begin; column < columns.end; ++column) {
        const auto pixel = static_cast<std::uint32_t>(row * g.width + column);
        const auto found = load<T, lanes>(values + s.in.offset(channel, pixel));
        const std::uint8_t position = pool_position(g, out.row, out.column, row, column);
        const bool first = row == rows.begin && column == columns.begin;
        for (unsigned k = 0; k < lanes; ++k) {
          if (first || wins(found.values[k], best[k].value)) best[k] = {found.values[k], position};
        }
      }
    }
    const std::int64_t offset = image * s.out.elements() + e;
    Lanes<T, lanes> won;
    for (unsigned k = 0; k < lanes; ++k) {
      won.values[k] = best[k].value;
      winners[offset + k] = best[k].position;
    }
    store(output + offset, won);
  }
};

template <class T, unsigned lanes>
struct Backward {
  Sides s;
  const T* output_gradient;
  const std::uint8_t* winners;
  T* input_gradient;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
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
        for (unsigned k = 0; k < lanes; ++k) {
          if (winners[offset + k] == mine) sum.values[k] += gradients.values[k];
        }
      }
    }
    store(input_gradient + image * s.in.elements() + e, sum);
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
    auto* winners = reinterpret_cast<std::uint8_t*>(buffers.saved);
    with_lanes<T>(sides_.in.channels, [&](auto lanes) {
      each_of_images(context_, "max_pool forward", batch_, sides_.out.elements(),
                     Forward<T, lanes>{sides_, buffers.input, buffers.output, winners}, lanes);
    });
  }
  void run_backward(const BuffersOf<T>& buffers, const Step&) override {
    if (buffers.input_gradient == nullptr) return;
    const auto* winners = reinterpret_cast<const std::uint8_t*>(buffers.saved);
    with_lanes<T>(sides_.in.channels, [&](auto lanes) {
      each_of_images(
          context_, "max_pool backward", batch_, sides_.in.elements(),
          Backward<T, lanes>{sides_, buffers.output_gradient, winners, buffers.input_gradient},
          lanes);
    });
  }

 private:
  const Context& context_;
  std::int64_t batch_;
  Sides sides_;
};

}  // namespace

std::unique_ptr<Layer> make_max_pool_layer(const LayerSite& site) {
  return make_typed<MaxPoolLayer>(site);
}

}  // namespace feedrate::trainer::cuda
