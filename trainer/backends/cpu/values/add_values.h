#pragma once
// Adds arrays: partial sums of several threads, or gradients from several readers.

#include <cstdint>

#include "trainer/backends/cpu/value_type.h"

namespace feedrate::trainer::cpu {

/// to[i] += from[i]; T is float or Bf16.
template <class T>
void add_values(const T* from, std::int64_t size, T* to);

}  // namespace feedrate::trainer::cpu
