#pragma once
// Whether an engine computes what it says: some of its results beside sums in fp64. cuDNN's notes
// tell what an engine does to numbers, and not always all of it.

#include "trainer/backends/cuda/products/conv_engine.cuh"

namespace feedrate::trainer::cuda {

/// The largest error of some results, as a multiple of what rounding explains: up to 1 for an
/// engine that multiplies unrounded values (10 bits of mantissa where `arithmetic` is that of
/// tensor cores and values are fp32) and sums in fp32 in any order. Infinite where a result is Inf or NaN.
/// `buffers` hold what the direction has read and written; the tensors are whole. Waits for
/// context.compute().
double error_of(const Context& context, const ConvShape& shape, ConvDirection direction,
                Arithmetic arithmetic, const ConvBuffers& buffers);

}  // namespace feedrate::trainer::cuda
