#pragma once
// What is timed must be given values: zeros, or one value everywhere, take less power than those of a
// network, so that the clocks stay higher.

#include "trainer/backends/cuda/context.cuh"

namespace feedrate::trainer::cuda {

/// Random values in ±1, over and over; others for each `seed`. Returns when they are there.
void fill_randomly(const Context& context, ValueType type, std::uint64_t seed,
                   const DeviceMemory& memory);

}  // namespace feedrate::trainer::cuda
