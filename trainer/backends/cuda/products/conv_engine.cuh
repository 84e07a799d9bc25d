#pragma once
// The engines that cuDNN offers for a graph, each with choices for its knobs and notes on what it
// does to numbers.

#include <cudnn.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainer/backends/cuda/products/conv_graph.cuh"

namespace feedrate::trainer::cuda {

struct ConvEngine {
  GraphDescriptor config;
  std::int64_t number = 0;
  /// The engine's number and its knobs' choices, "62 2=4 13=0". Another run of the same cuDNN finds
  /// the engine by this name.
  std::string name;
  std::vector<cudnnBackendNumericalNote_t> notes;
};

/// Notes in words: "tensor core", "winograd tile 4x4".
std::vector<std::string> words_of(std::span<const cudnnBackendNumericalNote_t> notes);

/// The units that may compute products. Tensor cores read 16 bits unchanged, but round fp32 to 10
/// bits of mantissa.
enum class Arithmetic : std::uint8_t { fma, tensor_cores };

/// Our promises: the same call gives the same bits, inputs are not rounded, and sums are fp32.
bool keeps_promises(const ConvEngine& engine, Arithmetic arithmetic);

/// The engines that this cuDNN heuristic proposes, in its order, without those that break our
/// promises (determinism, arithmetic). Throws Error if it proposes none at all.
std::vector<ConvEngine> engines_of(const ConvGraph& graph, cudnnBackendHeurMode_t mode,
                                   Arithmetic arithmetic);

/// The same engines: the first entry of each engine, then the second of each, and so on.
std::vector<ConvEngine> different_first(std::vector<ConvEngine> engines);

}  // namespace feedrate::trainer::cuda
