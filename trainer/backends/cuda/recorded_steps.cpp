#include "trainer/backends/cuda/recorded_steps.cuh"

#include <utility>

#include "formats/base/error.h"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

using Recording = Owned<cudaGraph_t, cudaGraphDestroy>;

// Null if `body` does something that cannot be recorded. The capture is then abandoned, and none of
// its work runs.
Recording capture(cudaStream_t stream, const std::function<void()>& body) {
  // Limited to this thread, so that the loader's threads may allocate memory meanwhile.
  if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) != cudaSuccess) {
    cudaGetLastError();  // clears it, so that the next launch does not report it again
    return nullptr;
  }
  bool whole = true;
  try {
    body();
  } catch (const Error&) {
    whole = false;  // a failure for any other reason comes again when the step runs
  }
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  Recording recording(graph);
  if (whole && ended == cudaSuccess) return recording;
  cudaGetLastError();
  return nullptr;
}

}  // namespace

void RecordedSteps::record(const Context& context,
                           const std::function<void(std::size_t side)>& body) {
  tried_ = true;
  std::array<Graph, Inputs::sides> graphs;
  for (std::size_t side = 0; side < graphs.size(); ++side) {
    const Recording recording = capture(context.compute(), [&] { body(side); });
    if (recording == nullptr) return;
    try {
      graphs[side] = make<cudaGraphExec_t, cudaGraphExecDestroy>(
          "cudaGraphInstantiate", cudaGraphInstantiate, recording.get(), 0ULL);
      check(cudaGraphUpload(graphs[side].get(), context.compute()), "cudaGraphUpload");
    } catch (const Error&) {  // a graph needs memory, and the network may have left none
      cudaGetLastError();
      return;
    }
  }
  graphs_ = std::move(graphs);
}

bool RecordedSteps::replay(const Context& context, std::size_t side) const {
  if (graphs_[side] == nullptr) return false;
  check(cudaGraphLaunch(graphs_[side].get(), context.compute()), "cudaGraphLaunch");
  return true;
}

}  // namespace feedrate::trainer::cuda
