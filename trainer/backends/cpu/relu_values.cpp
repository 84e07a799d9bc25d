#include "trainer/backends/cpu/relu_values.h"

#include "trainer/backends/cpu/parallel.h"
#include "trainer/ops/elementwise.h"

namespace feedrate::cpu {

FEEDRATE_VECTOR void relu_values(const float* in, std::int64_t size, float* out) {
  for (std::int64_t i = 0; i < size; ++i) out[i] = relu(in[i]);
}

FEEDRATE_VECTOR void relu_gradients(const float* gradient, const float* output, std::int64_t size,
                                    float* to) {
  for (std::int64_t i = 0; i < size; ++i) to[i] = relu_gradient(gradient[i], output[i]);
}

}  // namespace feedrate::cpu
