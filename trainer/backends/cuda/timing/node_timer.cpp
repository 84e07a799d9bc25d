#include "trainer/backends/cuda/timing/node_timer.cuh"

namespace feedrate::trainer::cuda {

NodeTimer::Pass::Pass(std::size_t nodes) : begin{make_event(cudaEventDefault)}, ends(nodes) {
  for (Mark& end : ends) end.event = make_event(cudaEventDefault);
}

NodeTimer::NodeTimer(std::size_t nodes, std::vector<NodeSeconds>& seconds)
    : seconds_(seconds), forward_(nodes), backward_(nodes) {
  seconds_.assign(nodes, {});
}

void NodeTimer::mark(const Context& context, Mark& mark) {
  cudaStreamCaptureStatus capturing{};
  check(cudaStreamIsCapturing(context.compute(), &capturing), "cudaStreamIsCapturing");
  // In a capture, a plain event only orders the work and takes no time; an external one takes it.
  const unsigned flags =
      capturing == cudaStreamCaptureStatusActive ? cudaEventRecordExternal : cudaEventRecordDefault;
  check(cudaEventRecordWithFlags(mark.event.get(), context.compute(), flags),
        "cudaEventRecordWithFlags");
  mark.used = true;
}

double NodeTimer::seconds_between(const Mark& begin, const Mark& end) {
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, begin.event.get(), end.event.get()),
        "cudaEventElapsedTime");
  return static_cast<double>(milliseconds) / 1e3;
}

void NodeTimer::add_times(const Context& context) {
  context.wait();
  const Mark* before = &forward_.begin;
  for (std::size_t i = 0; i < forward_.ends.size(); ++i) {
    if (!forward_.ends[i].used) continue;
    seconds_[i].forward += seconds_between(*before, forward_.ends[i]);
    before = &forward_.ends[i];
  }
  before = &backward_.begin;
  for (std::size_t i = backward_.ends.size(); i-- > 0;) {
    if (!backward_.ends[i].used) continue;
    seconds_[i].backward += seconds_between(*before, backward_.ends[i]);
    before = &backward_.ends[i];
  }
}

}  // namespace feedrate::trainer::cuda
