// The hyperbolic tangent, in place where the plan allows.

#include "trainer/backends/cuda/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"
#include "trainer/ops/tanh.h"

namespace feedrate::cuda {
namespace {

struct Forward {
  __device__ float operator()(float x, std::int64_t) const { return tanhf(x); }
};

struct Backward {
  const float* y;
  __device__ float operator()(float dy, std::int64_t i) const { return tanh_gradient(dy, y[i]); }
};

class TanhOp final : public CudaOp {
 public:
  explicit TanhOp(const OpSite& site)
      : context_(site.context), count_(site.batch * site.in.elements()) {}

  void forward(const Place& place, const Step&) override {
    map(context_, "tanh forward", count_, place.x, place.y, Forward{});
  }
  void backward(const Place& place, const Step&) override {
    if (place.dx == nullptr) return;
    map(context_, "tanh backward", count_, place.dy, place.dx, Backward{place.y});
  }

 private:
  const Context& context_;
  std::int64_t count_;
};

}  // namespace

std::unique_ptr<CudaOp> tanh_cuda(const OpSite& site) { return std::make_unique<TanhOp>(site); }

}  // namespace feedrate::cuda
