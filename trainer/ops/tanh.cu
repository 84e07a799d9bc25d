// The hyperbolic tangent, in place where the plan allows.

#include "trainer/backends/cuda/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"
#include "trainer/ops/tanh.h"

namespace feedrate::cuda {
namespace {

struct Forward {
  __device__ float operator()(std::int64_t, float x) const { return tanhf(x); }
};

struct Backward {
  __device__ float operator()(std::int64_t, float dy, float y) const {
    return tanh_gradient(dy, y);
  }
};

template <class T>
class TanhOp final : public CudaOpOf<T> {
 public:
  explicit TanhOp(const OpSite& site)
      : context_(site.context), count_(site.batch * site.in.elements()) {}

 protected:
  void run(const PlaceOf<T>& place, const Step&) override {
    map(context_, "tanh forward", count_, place.y, Forward{}, place.x);
  }
  void run_back(const PlaceOf<T>& place, const Step&) override {
    if (place.dx == nullptr) return;
    map(context_, "tanh backward", count_, place.dx, Backward{}, place.dy, place.y);
  }

 private:
  const Context& context_;
  std::int64_t count_;
};

}  // namespace

std::unique_ptr<CudaOp> tanh_cuda(const OpSite& site) { return make_typed<TanhOp>(site); }

}  // namespace feedrate::cuda
