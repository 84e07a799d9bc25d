#pragma once
// A step recorded as a CUDA graph, one for each side of the inputs, and then launched as one piece:
// the host's work for hundreds of kernels becomes that of one.

#include <array>
#include <functional>
#include <optional>

#include "trainer/backends/cuda/context.cuh"
#include "trainer/backends/cuda/inputs.cuh"

namespace feedrate::trainer::cuda {

class RecordedSteps {
 public:
  /// Whether record() was called.
  bool tried() const { return tried_; }
  /// Whether there is something to replay; absent before record() was called.
  std::optional<bool> recorded() const {
    return tried_ ? std::optional(graphs_.front() != nullptr) : std::nullopt;
  }
  /// Records `body(side)` for every side, without running it. It gives work to context.compute()
  /// alone, or to streams that wait for it and for which it waits; what it gives must depend on
  /// nothing of the host's that changes later. Where a library does what cannot be recorded,
  /// nothing is kept, and steps stay what they were.
  void record(const Context& context, const std::function<void(std::size_t side)>& body);
  /// Gives the recorded step to context.compute(); false: there is none.
  bool replay(const Context& context, std::size_t side) const;

 private:
  using Graph = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;

  std::array<Graph, Inputs::sides> graphs_;
  bool tried_ = false;
};

}  // namespace feedrate::trainer::cuda
