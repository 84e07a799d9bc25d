// max(0, x), in place where the plan allows.

#include "trainer/backends/cuda/layers/pointwise_op.cuh"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cuda {
namespace {

struct Relu {
  static constexpr const char* forward = "relu forward";
  static constexpr const char* backward = "relu backward";
  struct Forward {
    __device__ float operator()(std::int64_t, float x) const { return relu(x); }
  };
  struct Backward {
    __device__ float operator()(std::int64_t, float dy, float y) const {
      return relu_gradient(dy, y);
    }
  };
};

template <class T>
using ReluOp = PointwiseOp<T, Relu>;

}  // namespace

std::unique_ptr<CudaOp> relu_cuda(const OpSite& site) { return make_typed<ReluOp>(site); }

}  // namespace feedrate::trainer::cuda
