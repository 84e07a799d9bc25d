#pragma once
// Chooses the cuDNN engine of a convolution: the fastest of those that keep our promises, measured
// on random values once for each shape, and stored at once (algorithm_cache.cuh). If nothing can be stored, the
// first that runs is used, because measurements would choose differently from run to run. Engines
// that cuDNN offers but cannot build or run are skipped.

#include "trainer/backends/cuda/layer.cuh"
#include "trainer/backends/cuda/products/conv_graph.cuh"

namespace feedrate::trainer::cuda {

/// A graph with the engine chosen for it.
class ConvCall {
 public:
  ConvCall(ConvGraph graph, ConvExecution execution)
      : graph_(std::move(graph)), execution_(std::move(execution)) {}
  std::size_t workspace() const { return execution_.workspace(); }
  void run(const Context& context, const ConvBuffers& buffers) {
    execution_.run(context.cudnn(), buffers);
  }

 private:
  ConvGraph graph_;
  ConvExecution execution_;
};

/// All ranks get the first rank's engine. Throws Error, which names the node, if no engine works
/// within Context::workspace_limit(), or if a rank lacks the engine that the first has chosen.
ConvCall choose_engine(const LayerSite& site, const ConvShape& shape, ConvDirection direction);

}  // namespace feedrate::trainer::cuda
