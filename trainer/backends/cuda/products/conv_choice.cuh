#pragma once
// Which of cuDNN's engines a convolution runs by: of those that keep our promises the fastest,
// measured on the device once for each shape and kept (algorithm_cache.cuh). Where nothing can be
// kept, the first that runs: a choice by the clock would differ from run to run. What cuDNN offers
// but cannot build or run is passed over.

#include "trainer/backends/cuda/op.cuh"
#include "trainer/backends/cuda/products/conv_graph.cuh"

namespace feedrate::trainer::cuda {

/// A graph with the engine chosen for it.
class ConvCall {
 public:
  ConvCall(ConvGraph graph, ConvPlan plan) : graph_(std::move(graph)), plan_(std::move(plan)) {}
  std::size_t workspace() const { return plan_.workspace(); }
  void run(const Context& context, const ConvBuffers& buffers) {
    plan_.run(context.cudnn(), buffers);
  }

 private:
  ConvGraph graph_;
  ConvPlan plan_;
};

/// All ranks get the first one's engine. Throws Error, which names the node, when none is left that
/// works in at most workspace_limit, or a rank has not the engine that the first has chosen.
ConvCall choose_engine(const OpSite& site, const ConvShape& shape, ConvDirection direction);

}  // namespace feedrate::trainer::cuda
