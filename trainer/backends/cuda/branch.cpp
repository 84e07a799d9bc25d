#include "trainer/backends/cuda/branch.cuh"

namespace feedrate::trainer::cuda {

Branch::Branch()
    : begins_(make_event(cudaEventDisableTiming)), ends_(make_event(cudaEventDisableTiming)) {}

void Branch::begin(Context& context) {
  join(context);
  check(cudaEventRecord(begins_.get(), context.compute()), "cudaEventRecord");
  context.enter_branch();
  check(cudaStreamWaitEvent(context.compute(), begins_.get(), 0), "cudaStreamWaitEvent");
}

void Branch::end(Context& context) {
  check(cudaEventRecord(ends_.get(), context.compute()), "cudaEventRecord");
  context.leave_branch();
  open_ = true;
}

void Branch::join(const Context& context) {
  if (!open_) return;
  check(cudaStreamWaitEvent(context.compute(), ends_.get(), 0), "cudaStreamWaitEvent");
  open_ = false;
}

}  // namespace feedrate::trainer::cuda
