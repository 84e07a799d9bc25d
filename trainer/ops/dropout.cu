// Dropout: the mask is drawn again in backward, so nothing is kept.

#include "trainer/backends/cuda/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"
#include "trainer/ops/elementwise.h"

namespace feedrate::cuda {
namespace {

struct Drop {
  const UpdateSettings* settings;
  std::uint64_t seed;
  std::uint64_t node;
  float share;
  DropoutMask mask{0, 0, 0, 0};
  __device__ void prepare() { mask = DropoutMask(seed, settings->step, node, share); }
  __device__ float operator()(float value, std::int64_t i) const {
    return value * mask.factor(static_cast<std::uint64_t>(i));
  }
};

class DropoutOp final : public CudaOp {
 public:
  explicit DropoutOp(const OpSite& site)
      : context_(site.context),
        count_(site.batch * site.in.elements()),
        seed_(site.seed),
        node_(site.number),
        share_(static_cast<float>(site.node.attributes.number("share"))) {}

  void forward(const Place& place, const Step& step) override {
    if (step.training) {
      map(context_, "dropout forward", count_, place.x, place.y, drop(step));
    } else if (place.y != place.x) {
      check(cudaMemcpyAsync(place.y, place.x, static_cast<std::size_t>(count_) * sizeof(float),
                            cudaMemcpyDeviceToDevice, context_.compute()),
            "cudaMemcpyAsync");
    }
  }
  void backward(const Place& place, const Step& step) override {
    if (place.dx == nullptr) return;
    map(context_, "dropout backward", count_, place.dy, place.dx, drop(step));
  }

 private:
  Drop drop(const Step& step) const { return {step.settings, seed_, node_, share_}; }

  const Context& context_;
  std::int64_t count_;
  std::uint64_t seed_;
  std::uint64_t node_;
  float share_;
};

}  // namespace

std::unique_ptr<CudaOp> dropout_cuda(const OpSite& site) {
  return std::make_unique<DropoutOp>(site);
}

}  // namespace feedrate::cuda
