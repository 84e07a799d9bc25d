#pragma once
// What cuDNN offers to compute a graph by: engines, each with choices for its knobs, and notes on
// what it does to numbers.

#include <cudnn.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/backends/cuda/products/conv_graph.cuh"

namespace feedrate::trainer::cuda {

struct ConvEngine {
  GraphDescriptor config;
  /// The engine's number and its knobs' choices, "62 2=4 13=0": by it another run of the same cuDNN
  /// finds it again.
  std::string name;
  std::vector<cudnnBackendNumericalNote_t> notes;
};

/// By what products may be found. Tensor cores take 16 bits as they are, but round fp32 to 10 bits.
enum class Arithmetic : std::uint8_t { fma, tensor_cores };

/// Whether the same call gives the same bits, nothing else is rounded, and sums are fp32.
bool keeps_promises(const ConvEngine& engine, Arithmetic arithmetic);

/// What one of cuDNN's heuristics offers and keeps our promises, in its order. Throws Error where
/// it knows of nothing at all.
std::vector<ConvEngine> engines_of(const ConvGraph& graph, cudnnBackendHeurMode_t mode,
                                   Arithmetic arithmetic);

}  // namespace feedrate::trainer::cuda
