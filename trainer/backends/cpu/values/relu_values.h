#pragma once
// The relu of an array and its gradient, in the processor's widest vector instructions. The arrays
// may be the same memory, since each result depends only on the values at its own index.

#include <cstdint>

#include "trainer/backends/cpu/value_type.h"

namespace feedrate::trainer::cpu {

/// T is float or Bf16.
template <class T>
void relu_values(const T* in, std::int64_t size, T* out);
/// `output` is that of the relu.
template <class T>
void relu_gradients(const T* gradient, const T* output, std::int64_t size, T* to);

}  // namespace feedrate::trainer::cpu
