#pragma once
// A step recorded as a CUDA graph, one for each side of the inputs. One launch then replaces those
// of hundreds of kernels.

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "trainer/backends/cuda/context.cuh"
#include "trainer/backends/cuda/inputs.cuh"

namespace feedrate::trainer::cuda {

class RecordedSteps {
 public:
  /// Whether record() was called.
  bool tried() const { return tried_; }
  /// Whether there is a graph to replay; absent before record() was called.
  std::optional<bool> recorded() const {
    return tried_ ? std::optional(graphs_.front() != nullptr) : std::nullopt;
  }
  /// Why there is no graph, after record(); "" if there is one.
  const std::string& problem() const { return problem_; }
  /// Records `body(side)` for every side, without running it. The body may queue work on
  /// context.compute(), and on streams that wait for it and for which it waits. That work must not
  /// depend on host values that change later. If a library does something that cannot be recorded,
  /// no graph is kept, and steps go on kernel by kernel; it may be called again.
  void record(const Context& context, const std::function<void(std::size_t side)>& body);
  /// Queues the recorded step on context.compute(). False if there is none.
  bool replay(const Context& context, std::size_t side) const;

 private:
  using Graph = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;

  std::array<Graph, Inputs::sides> graphs_;
  bool tried_ = false;
  std::string problem_;
};

}  // namespace feedrate::trainer::cuda
