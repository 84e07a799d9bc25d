// u8 HWC pixels → float NCHW.

#include "trainer/backends/cuda/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"
#include "trainer/ops/elementwise.h"
#include "trainer/ops/layout.h"

namespace feedrate::cuda {
namespace {

struct Scale {
  const std::uint8_t* pixels;
  float* out;
  std::uint32_t channels;
  std::uint32_t plane;
  float scale;
  float mean;
  __device__ void operator()(std::int64_t image, std::uint32_t e) const {
    const std::int64_t start = image * channels * plane;
    out[start + e] =
        scaled_pixel(pixels[start + interleaved_offset(e, channels, plane)], scale, mean);
  }
};

class InputOp final : public CudaOp {
 public:
  explicit InputOp(const OpSite& site)
      : context_(site.context),
        batch_(site.batch),
        out_(site.node.extent),
        scale_(static_cast<float>(site.node.attributes.number("scale"))),
        mean_(static_cast<float>(site.node.attributes.number("mean"))) {}

  void forward(const Place& place, const Step& step) override {
    each_of_images(context_, "input", batch_, out_.elements(),
                   Scale{step.pixels, place.y, static_cast<std::uint32_t>(out_.channels),
                         static_cast<std::uint32_t>(out_.height * out_.width), scale_, mean_});
  }
  void backward(const Place&, const Step&) override {}  // pixels have no gradient

 private:
  const Context& context_;
  std::int64_t batch_;
  Extent out_;
  float scale_;
  float mean_;
};

}  // namespace

std::unique_ptr<CudaOp> input_cuda(const OpSite& site) { return std::make_unique<InputOp>(site); }

}  // namespace feedrate::cuda
