#pragma once
// Adds arrays: partial sums of several threads, or gradients from several readers.

#include <cstdint>

namespace feedrate::trainer::cpu {

/// to[i] += from[i].
void add_values(const float* from, std::int64_t size, float* to);

}  // namespace feedrate::trainer::cpu
