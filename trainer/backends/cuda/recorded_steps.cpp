#include "trainer/backends/cuda/recorded_steps.cuh"

#include <optional>
#include <utility>

#include "formats/base/error.h"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

using Recording = Owned<cudaGraph_t, cudaGraphDestroy>;

// Throws Error if `body` does something that cannot be recorded. The capture is then abandoned, and
// none of its work runs.
Recording capture(cudaStream_t stream, const std::function<void()>& body) {
  // Limited to this thread, so that the loader's threads may allocate memory meanwhile.
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  std::optional<Error> problem;
  try {
    body();
  } catch (const Error& failed) {  // a failure for any other reason comes again when the step runs
    problem = failed;
  }
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
  Recording recording(graph);
  if (problem) throw Error(*problem);
  check(ended, "cudaStreamEndCapture");
  return recording;
}

// One of the functions of that name: CUDA's C++ header, which NCCL's includes, has more.
constexpr cudaError_t (*instantiate)(cudaGraphExec_t*, cudaGraph_t,
                                     unsigned long long) = cudaGraphInstantiate;

}  // namespace

void RecordedSteps::record(const Context& context,
                           const std::function<void(std::size_t side)>& body) {
  tried_ = true;
  problem_.clear();
  std::array<Graph, Inputs::sides> graphs;
  try {
    for (std::size_t side = 0; side < graphs.size(); ++side) {
      const Recording recording = capture(context.compute(), [&] { body(side); });
      // A graph needs memory, and the network may have left none.
      graphs[side] = make<cudaGraphExec_t, cudaGraphExecDestroy>(
          "cudaGraphInstantiate", instantiate, recording.get(), 0ULL);
      check(cudaGraphUpload(graphs[side].get(), context.compute()), "cudaGraphUpload");
    }
    graphs_ = std::move(graphs);
  } catch (const Error& failed) {
    cudaGetLastError();  // clears it, so that the next launch does not report it again
    problem_ = failed.what();
  }
}

bool RecordedSteps::replay(const Context& context, std::size_t side) const {
  if (graphs_[side] == nullptr) return false;
  check(cudaGraphLaunch(graphs_[side].get(), context.compute()), "cudaGraphLaunch");
  return true;
}

}  // namespace feedrate::trainer::cuda
