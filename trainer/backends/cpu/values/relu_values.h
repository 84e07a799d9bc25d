#pragma once
// The relu of an array and its gradient, in the processor's widest vector instructions. The arrays
// may be the same memory, since each result depends only on the values at its own index.

#include <cstdint>

namespace feedrate::trainer::cpu {

void relu_values(const float* in, std::int64_t size, float* out);
/// `output` is that of the relu.
void relu_gradients(const float* gradient, const float* output, std::int64_t size, float* to);
/// The same, rounded to bf16: to the nearest, ties to even.
void relu_gradients_bf16(const float* gradient, const float* output, std::int64_t size,
                         std::uint16_t* to);

}  // namespace feedrate::trainer::cpu
