#pragma once
// Values from one layout into another.

#include <cstdint>

#include "trainer/backends/cpu/layout.h"

namespace feedrate::cpu {

/// One image; filling channels become zero.
void relayout(const float* from, const Layout& from_layout, float* to, const Layout& to_layout);
/// rows × columns, row-major, into columns × rows.
void transpose(const float* from, std::int64_t rows, std::int64_t columns, float* to);

}  // namespace feedrate::cpu
