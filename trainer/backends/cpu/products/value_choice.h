#pragma once
// In which type the values between layers lie.

#include <cstdint>
#include <vector>

#include "trainer/backends/cpu/value_type.h"
#include "trainer/graph/memory_plan.h"

namespace feedrate::trainer::cpu {

/// The type of each node's output and of its gradient. `bf16` says by node which products multiply
/// bf16.
///
/// All nodes between products keep one type. It is bf16 where the products that write and read
/// these nodes exchange more values in bf16 than in fp32 (or, for tests, any values in bf16), so
/// that the fewest values are converted; a loss always reads fp32. So the choice depends on shapes
/// alone.
enum class NarrowValues : std::uint8_t { where_most, where_any };
std::vector<ValueType> choose_value_types(const Plan& plan, const std::vector<bool>& bf16,
                                          NarrowValues where);

}  // namespace feedrate::trainer::cpu
