// The hyperbolic tangent, in place where the plan allows.

#include "trainer/backends/cuda/layers/pointwise_layer.cuh"
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
    __device__ float operator()(std::int64_t, float gradient, float output) const {
      return tanh_gradient(gradient, output);
    }
  };
};

template <class T>
using TanhLayer = PointwiseLayer<T, Tanh>;

}  // namespace

std::unique_ptr<Layer> make_tanh_layer(const LayerSite& site) {
  return make_typed<TanhLayer>(site);
}

}  // namespace feedrate::trainer::cuda
