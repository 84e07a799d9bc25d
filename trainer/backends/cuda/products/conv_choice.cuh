#pragma once
// Which of cuDNN's engines a convolution runs by: of those that keep our promises the fastest,
// measured on the device once for each shape and kept (algorithm_cache.cuh). Where nothing can be
// kept, the first that runs: a choice by the clock would differ from run to run. What cuDNN offers
// but cannot build or run is passed over.

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

/// All ranks get the first one's engine. Throws Error, which names the node, when none is left that
/// works in at most workspace_limit, or a rank has not the engine that the first has chosen.
ConvCall choose_engine(const LayerSite& site, const ConvShape& shape, ConvDirection direction);

}  // namespace feedrate::trainer::cuda
