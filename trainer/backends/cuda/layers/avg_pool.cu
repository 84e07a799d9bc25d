// Average pooling. Backward gathers, so that no two threads add to the same sum.

#include "trainer/backends/cuda/kernels/kernels.cuh"
#include "trainer/backends/cuda/layer.cuh"
#include "trainer/ops/avg_window.h"

namespace feedrate::trainer::cuda {
namespace {

struct AvgPoolSides {
  PoolGeometry g;
  ImageLayout in;
  ImageLayout out;
};

template <class T, unsigned lanes>
struct AvgPoolForward {
  AvgPoolSides s;
  const T* input;
  T* output;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const PoolGeometry& g = s.g;
    const T* values = input + image * s.in.elements();
    const std::uint32_t channel = s.out.channel(e);
    const PoolSpot at = pool_spot(s.out.pixel(e), g.out_width);
    const PoolRange rows = avg_inputs(g, at.row, g.height, g.out_height);
    const PoolRange columns = avg_inputs(g, at.column, g.width, g.out_width);
    Lanes<T, lanes> sum{};
    for (std::int32_t row = rows.begin; row < rows.end; ++row) {
      for (std::int32_t column = columns.begin; column < columns.end; ++column) {
        const auto pixel = static_cast<std::uint32_t>(row * g.width + column);
        const auto term = load<T, lanes>(values + s.in.offset(channel, pixel));
        for (unsigned k = 0; k < lanes; ++k) sum.values[k] += term.values[k];
      }
    }
    const std::int32_t places = (rows.end - rows.begin) * (columns.end - columns.begin);
    for (unsigned k = 0; k < lanes; ++k) sum.values[k] /= static_cast<float>(places);
    store(output + image * s.out.elements() + e, sum);
  }
};

template <class T, unsigned lanes>
struct AvgPoolBackward {
  AvgPoolSides s;
  const T* output_gradient;
  T* input_gradient;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const PoolGeometry& g = s.g;
    const T* outputs = output_gradient + image * s.out.elements();
    const std::uint32_t channel = s.in.channel(e);
    const PoolSpot at = pool_spot(s.in.pixel(e), g.width);
    const PoolRange rows = avg_outputs(g, at.row, g.height, g.out_height);
    const PoolRange columns = avg_outputs(g, at.column, g.width, g.out_width);
    Lanes<T, lanes> sum{};
    for (std::int32_t row = rows.begin; row < rows.end; ++row) {
      const PoolRange high = avg_inputs(g, row, g.height, g.out_height);
      for (std::int32_t column = columns.begin; column < columns.end; ++column) {
        const PoolRange wide = avg_inputs(g, column, g.width, g.out_width);
        const std::int32_t places = (high.end - high.begin) * (wide.end - wide.begin);
        const auto pixel = static_cast<std::uint32_t>(row * g.out_width + column);
        const auto term = load<T, lanes>(outputs + s.out.offset(channel, pixel));
        for (unsigned k = 0; k < lanes; ++k) {
          sum.values[k] += term.values[k] / static_cast<float>(places);
        }
      }
    }
    store(input_gradient + image * s.in.elements() + e, sum);
  }
};

template <class T>
class AvgPoolLayer final : public LayerOf<T> {
 public:
  explicit AvgPoolLayer(const LayerSite& site)
      : context_(site.context),
        batch_(site.batch),
        sides_{pool_geometry(site.node().attributes, site.input, site.node().extent),
               image_layout(site.input), image_layout(site.node().extent)} {}

 protected:
  void run_forward(const BuffersOf<T>& buffers, const Step&) override {
    with_lanes<T>(sides_.in.channels, [&](auto lanes) {
      each_of_images(context_, "avg_pool forward", batch_, sides_.out.elements(),
                     AvgPoolForward<T, lanes>{sides_, buffers.input, buffers.output}, lanes);
    });
  }
  void run_backward(const BuffersOf<T>& buffers, const Step&) override {
    if (buffers.input_gradient == nullptr) return;
    with_lanes<T>(sides_.in.channels, [&](auto lanes) {
      each_of_images(context_, "avg_pool backward", batch_, sides_.in.elements(),
                     AvgPoolBackward<T, lanes>{sides_, buffers.output_gradient, buffers.input_gradient},
                     lanes);
    });
  }

 private:
  const Context& context_;
  std::int64_t batch_;
  AvgPoolSides sides_;
};

}  // namespace

std::unique_ptr<Layer> make_avg_pool_layer(const LayerSite& site) {
  return make_typed<AvgPoolLayer>(site);
}

}  // namespace feedrate::trainer::cuda
