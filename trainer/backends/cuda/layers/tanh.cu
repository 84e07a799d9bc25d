// The hyperbolic tangent, in place where the plan allows.

#include "trainer/backends/cuda/layers/pointwise_op.cuh"
#include "trainer/ops/tanh.h"

namespace feedrate::trainer::cuda {
namespace {

struct Tanh {
  static constexpr const char* forward = "tanh forward";
  static constexpr const char* backward = "tanh backward";
  struct Forward {
    __device__ float operator()(std::int64_t, float x) const { return tanhf(x); }
  };
  struct Backward {
    __device__ float operator()(std::int64_t, float dy, float y) const {
      return tanh_gradient(dy, y);
    }
  };
};

template <class T>
using TanhOp = PointwiseOp<T, Tanh>;

}  // namespace

std::unique_ptr<CudaOp> tanh_cuda(const OpSite& site) { return make_typed<TanhOp>(site); }

}  // namespace feedrate::trainer::cuda
