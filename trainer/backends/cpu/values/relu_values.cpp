#include "trainer/backends/cpu/values/relu_values.h"

#include <bit>

#include "trainer/backends/cpu/threads/parallel.h"
#include "trainer/ops/elementwise.h"

namespace feedrate::trainer::cpu {

FEEDRATE_VECTOR void relu_values(const float* in, std::int64_t size, float* out) {
  for (std::int64_t i = 0; i < size; ++i) out[i] = relu(in[i]);
}

FEEDRATE_VECTOR void relu_gradients(const float* gradient, const float* output, std::int64_t size,
                                    float* to) {
  for (std::int64_t i = 0; i < size; ++i) to[i] = relu_gradient(gradient[i], output[i]);
}

FEEDRATE_VECTOR void relu_gradients_bf16(const float* gradient, const float* output,
                                         std::int64_t size, std::uint16_t* to) {
  for (std::int64_t i = 0; i < size; ++i) {
    const float value = relu_gradient(gradient[i], output[i]);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = bits + 0x7fffU + (bits >> 16 & 1U);
    // Rounding could turn a NaN into an infinity; NaN must stay NaN.
    to[i] = static_cast<std::uint16_t>((value == value ? rounded : bits | 0x400000U) >> 16);
  }
}

}  // namespace feedrate::trainer::cpu
