#pragma once
// Conversions between the types of values.

#include <cstdint>

#include "trainer/backends/cpu/value_type.h"

namespace feedrate::trainer::cpu {

void convert(const Bf16* from, std::int64_t size, float* to);
/// Rounds.
void convert(const float* from, std::int64_t size, Bf16* to);

}  // namespace feedrate::trainer::cpu
