// max(0, x), in place where the plan allows.

#include "trainer/backends/cuda/kernels.cuh"
#include "trainer/backends/cuda/op.cuh"
#include "trainer/ops/elementwise.h"

namespace feedrate::cuda {
namespace {

struct Forward {
  __device__ float operator()(std::int64_t, float x) const { return relu(x); }
};

struct Backward {
  __device__ float operator()(std::int64_t, float dy, float y) const {
    return relu_gradient(dy, y);
  }
};

template <class T>
class ReluOp final : public CudaOpOf<T> {
 public:
  explicit ReluOp(const OpSite& site)
      : context_(site.context), count_(site.batch * site.in.elements()) {}

 protected:
  void run(const PlaceOf<T>& place, const Step&) override {
    map(context_, "relu forward", count_, place.y, Forward{}, place.x);
  }
  void run_back(const PlaceOf<T>& place, const Step&) override {
    if (place.dx == nullptr) return;
    map(context_, "relu backward", count_, place.dx, Backward{}, place.dy, place.y);
  }

 private:
  const Context& context_;
  std::int64_t count_;
};

}  // namespace

std::unique_ptr<CudaOp> relu_cuda(const OpSite& site) { return make_typed<ReluOp>(site); }

}  // namespace feedrate::cuda
