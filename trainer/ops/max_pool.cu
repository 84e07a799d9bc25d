// Max pooling: forward keeps which position won; backward gathers, so no two threads add to one
// sum.

#include "trainer/backends/cuda/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"
#include "trainer/ops/pool_window.h"

namespace feedrate::cuda {
namespace {

struct Forward {
  PoolGeometry g;
  std::int64_t channels;
  const float* x;
  float* y;
  std::uint8_t* winners;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::uint32_t out_plane = static_cast<std::uint32_t>(g.out_height * g.out_width);
    const std::uint32_t channel = e / out_plane;
    const std::uint32_t at = e % out_plane;
    const std::uint32_t out_width = static_cast<std::uint32_t>(g.out_width);
    const float* plane = x + (image * channels + channel) * g.height * g.width;
    const PoolWinner winner = pool_winner(g, plane, static_cast<std::int32_t>(at / out_width),
                                          static_cast<std::int32_t>(at % out_width));
    const std::int64_t output = image * channels * out_plane + e;
    y[output] = winner.value;
    winners[output] = winner.position;
  }
};

struct Backward {
  PoolGeometry g;
  std::int64_t channels;
  const float* dy;
  const std::uint8_t* winners;
  float* dx;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::uint32_t plane = static_cast<std::uint32_t>(g.height * g.width);
    const std::uint32_t channel = e / plane;
    const std::uint32_t at = e % plane;
    const std::uint32_t width = static_cast<std::uint32_t>(g.width);
    const std::int64_t outputs = (image * channels + channel) * g.out_height * g.out_width;
    dx[image * channels * plane + e] =
        pool_gradient(g, dy + outputs, winners + outputs, static_cast<std::int32_t>(at / width),
                      static_cast<std::int32_t>(at % width));
  }
};

class MaxPoolOp final : public CudaOp {
 public:
  explicit MaxPoolOp(const OpSite& site)
      : context_(site.context), batch_(site.batch), in_(site.in), out_(site.node.extent) {
    const Attributes& attributes = site.node.attributes;
    geometry_ = {.height = dimension(in_.height),
                 .width = dimension(in_.width),
                 .out_height = dimension(out_.height),
                 .out_width = dimension(out_.width),
                 .kernel = dimension(attributes.integer("kernel")),
                 .stride = dimension(attributes.integer("stride")),
                 .pad = static_cast<std::int32_t>(attributes.integer("pad"))};
  }

  std::size_t saved_bytes() const override {
    return static_cast<std::size_t>(batch_ * out_.elements());
  }
  void forward(const Place& place, const Step&) override {
    each_of_images(context_, "max_pool forward", batch_, out_.elements(),
                   Forward{geometry_, in_.channels, place.x, place.y,
                           reinterpret_cast<std::uint8_t*>(place.saved)});
  }
  void backward(const Place& place, const Step&) override {
    if (place.dx == nullptr) return;
    each_of_images(context_, "max_pool backward", batch_, in_.elements(),
                   Backward{geometry_, in_.channels, place.dy,
                            reinterpret_cast<const std::uint8_t*>(place.saved), place.dx});
  }

 private:
  const Context& context_;
  std::int64_t batch_;
  Extent in_;
  Extent out_;
  PoolGeometry geometry_{};
};

}  // namespace

std::unique_ptr<CudaOp> max_pool_cuda(const OpSite& site) {
  return std::make_unique<MaxPoolOp>(site);
}

}  // namespace feedrate::cuda
