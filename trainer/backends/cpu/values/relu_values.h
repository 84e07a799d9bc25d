#pragma once
// A relu of a run of values, and its gradient, in the processor's widest instructions. Any of them
// may be the same memory: each value depends on those in its own place alone.

#include <cstdint>

namespace feedrate::trainer::cpu {

void relu_values(const float* in, std::int64_t size, float* out);
/// `output` is the relu's.
void relu_gradients(const float* gradient, const float* output, std::int64_t size, float* to);
/// The same, rounded to bf16: to the nearest, ties to even.
void relu_gradients_bf16(const float* gradient, const float* output, std::int64_t size,
                         std::uint16_t* to);

}  // namespace feedrate::trainer::cpu
