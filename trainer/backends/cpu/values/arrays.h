#pragma once
// Loops over arrays of values, in the processor's widest vector instructions; T is float or Bf16.

#include <cstdint>

#include "trainer/backends/cpu/value_type.h"

namespace feedrate::trainer::cpu {

/// to[i] += from[i]: partial sums of several threads, or gradients from several readers.
template <class T>
void add_values(const T* from, std::int64_t size, T* to);

void convert(const Bf16* from, std::int64_t size, float* to);
/// Rounds.
void convert(const float* from, std::int64_t size, Bf16* to);

/// relu() and relu_gradient() of elementwise.h. The arrays may be the same memory, since each
/// result depends only on the values at its own index.
template <class T>
void relu_values(const T* in, std::int64_t size, T* out);
/// `output` is that of the relu.
template <class T>
void relu_gradients(const T* gradient, const T* output, std::int64_t size, T* to);

}  // namespace feedrate::trainer::cpu
