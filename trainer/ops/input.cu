// u8 HWC pixels → float NCHW.

#include "trainer/backends/cuda/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"
#include "trainer/ops/elementwise.h"
#include "trainer/ops/layout.h"
#include "trainer/ops/pixels.h"

namespace feedrate::cuda {
namespace {

struct Scale {
  const std::uint8_t* pixels;
  float* out;
  std::uint32_t channels;
  std::uint32_t plane;
  PixelScale scales[own_scales];
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::int64_t start = image * channels * plane;
    const std::uint32_t channel = e / plane;
    const PixelScale own = scales[channel < own_scales ? channel : 0];
    out[start + e] =
        scaled_pixel(pixels[start + interleaved_offset(e, channels, plane)], own.scale, own.mean);
  }
};

class InputOp final : public CudaOp {
 public:
  explicit InputOp(const OpSite& site)
      : context_(site.context),
        batch_(site.batch),
        out_(site.node.extent),
        scales_(pixel_scales(site.node.attributes)) {}

  void forward(const Place& place, const Step& step) override {
    each_of_images(context_, "input", batch_, out_.elements(),
                   Scale{step.pixels,
                         place.y,
                         static_cast<std::uint32_t>(out_.channels),
                         static_cast<std::uint32_t>(out_.height * out_.width),
                         {scales_[0], scales_[1], scales_[2], scales_[3]}});
  }
  void backward(const Place&, const Step&) override {}  // pixels have no gradient

 private:
  const Context& context_;
  std::int64_t batch_;
  Extent out_;
  PixelScales scales_;
};

}  // namespace

std::unique_ptr<CudaOp> input_cuda(const OpSite& site) { return std::make_unique<InputOp>(site); }

}  // namespace feedrate::cuda
