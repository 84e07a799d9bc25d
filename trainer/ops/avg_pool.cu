// Average pooling; backward gathers, so no two threads add to one sum.

#include "trainer/backends/cuda/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"
#include "trainer/ops/avg_window.h"

namespace feedrate::cuda {
namespace {

struct Spot {
  std::int32_t row, column;
};
__device__ Spot spot(std::uint32_t at, std::int32_t width) {
  const auto w = static_cast<std::uint32_t>(width);
  return {static_cast<std::int32_t>(at / w), static_cast<std::int32_t>(at % w)};
}

struct Forward {
  PoolGeometry g;
  std::int64_t channels;
  const float* x;
  float* y;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const auto out_plane = static_cast<std::uint32_t>(g.out_height * g.out_width);
    const float* plane = x + (image * channels + e / out_plane) * g.height * g.width;
    const Spot out = spot(e % out_plane, g.out_width);
    const PoolRange rows = avg_inputs(g, out.row, g.height, g.out_height);
    const PoolRange columns = avg_inputs(g, out.column, g.width, g.out_width);
    float sum = 0;
    for (std::int32_t row = rows.begin; row < rows.end; ++row) {
      for (std::int32_t column = columns.begin; column < columns.end; ++column) {
        sum += plane[row * g.width + column];
      }
    }
    const std::int32_t places = (rows.end - rows.begin) * (columns.end - columns.begin);
    y[image * channels * out_plane + e] = sum / static_cast<float>(places);
  }
};

struct Backward {
  PoolGeometry g;
  std::int64_t channels;
  const float* dy;
  float* dx;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const auto plane = static_cast<std::uint32_t>(g.height * g.width);
    const float* outputs = dy + (image * channels + e / plane) * g.out_height * g.out_width;
    const Spot in = spot(e % plane, g.width);
    const PoolRange rows = avg_outputs(g, in.row, g.height, g.out_height);
    const PoolRange columns = avg_outputs(g, in.column, g.width, g.out_width);
    float sum = 0;
    for (std::int32_t row = rows.begin; row < rows.end; ++row) {
      const PoolRange high = avg_inputs(g, row, g.height, g.out_height);
      for (std::int32_t column = columns.begin; column < columns.end; ++column) {
        const PoolRange wide = avg_inputs(g, column, g.width, g.out_width);
        const std::int32_t places = (high.end - high.begin) * (wide.end - wide.begin);
        sum += outputs[row * g.out_width + column] / static_cast<float>(places);
      }
    }
    dx[image * channels * plane + e] = sum;
  }
};

class AvgPoolOp final : public CudaOp {
 public:
  explicit AvgPoolOp(const OpSite& site)
      : context_(site.context),
        batch_(site.batch),
        in_(site.in),
        out_(site.node.extent),
        geometry_(avg_geometry(site.node.attributes, in_, out_)) {}

  void forward(const Place& place, const Step&) override {
    each_of_images(context_, "avg_pool forward", batch_, out_.elements(),
                   Forward{geometry_, in_.channels, place.x, place.y});
  }
  void backward(const Place& place, const Step&) override {
    if (place.dx == nullptr) return;
    each_of_images(context_, "avg_pool backward", batch_, in_.elements(),
                   Backward{geometry_, in_.channels, place.dy, place.dx});
  }

 private:
  const Context& context_;
  std::int64_t batch_;
  Extent in_;
  Extent out_;
  PoolGeometry geometry_;
};

}  // namespace

std::unique_ptr<CudaOp> avg_pool_cuda(const OpSite& site) {
  return std::make_unique<AvgPoolOp>(site);
}

}  // namespace feedrate::cuda
