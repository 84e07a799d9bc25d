// A residual block's way past itself: every stride-th value, then channels of zeros.

#include "trainer/backends/cuda/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"

namespace feedrate::cuda {
namespace {

struct Sides {
  std::uint32_t channels, height, width;
  std::uint32_t out_channels, out_height, out_width;
  std::uint32_t stride;
};

struct Forward {
  Sides s;
  const float* x;
  float* y;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::uint32_t channel = e / (s.out_height * s.out_width);
    const std::uint32_t row = e / s.out_width % s.out_height;
    const std::uint32_t column = e % s.out_width;
    const std::int64_t out = image * s.out_channels * s.out_height * s.out_width + e;
    const std::int64_t in =
        ((image * s.channels + channel) * s.height + row * s.stride) * s.width + column * s.stride;
    y[out] = channel < s.channels ? x[in] : 0.0F;
  }
};

struct Backward {
  Sides s;
  const float* dy;
  float* dx;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::uint32_t channel = e / (s.height * s.width);
    const std::uint32_t row = e / s.width % s.height;
    const std::uint32_t column = e % s.width;
    const std::int64_t in = image * s.channels * s.height * s.width + e;
    const std::int64_t out =
        ((image * s.out_channels + channel) * s.out_height + row / s.stride) * s.out_width +
        column / s.stride;
    dx[in] = row % s.stride == 0 && column % s.stride == 0 ? dy[out] : 0.0F;
  }
};

class ShortcutOp final : public CudaOp {
 public:
  explicit ShortcutOp(const OpSite& site)
      : context_(site.context), batch_(site.batch), in_(site.in), out_(site.node.extent) {
    const auto side = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
    sides_ = {side(in_.channels),
              side(in_.height),
              side(in_.width),
              side(out_.channels),
              side(out_.height),
              side(out_.width),
              side(site.node.attributes.integer("stride"))};
  }

  void forward(const Place& place, const Step&) override {
    each_of_images(context_, "shortcut forward", batch_, out_.elements(),
                   Forward{sides_, place.x, place.y});
  }
  void backward(const Place& place, const Step&) override {
    if (place.dx == nullptr) return;
    each_of_images(context_, "shortcut backward", batch_, in_.elements(),
                   Backward{sides_, place.dy, place.dx});
  }

 private:
  const Context& context_;
  std::int64_t batch_;
  Extent in_;
  Extent out_;
  Sides sides_{};
};

}  // namespace

std::unique_ptr<CudaOp> shortcut_cuda(const OpSite& site) {
  return std::make_unique<ShortcutOp>(site);
}

}  // namespace feedrate::cuda
