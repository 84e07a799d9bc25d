#pragma once
// A branch of a step: work that runs beside what is queued on Context::compute(). In a recorded
// step it is a branch of the CUDA graph.

#include "trainer/backends/cuda/context.cuh"

namespace feedrate::trainer::cuda {

class Branch {
 public:
  Branch();
  /// Queues what `body` queues on context.compute() beside what comes later. It begins after all
  /// that compute() holds so far; compute() first waits for the branch's earlier work.
  template <class Body>
  void run(Context& context, const Body& body) {
    try {
      begin(context);
      body();
      end(context);
    } catch (...) {  // a step that cannot be recorded, or that failed
      context.leave_branch();
      throw;
    }
  }
  /// Makes context.compute() wait for the branch.
  void join(const Context& context);
  /// Call it before a step: one that was abandoned leaves nothing to wait for.
  void restart() { open_ = false; }

 private:
  void begin(Context& context);
  void end(Context& context);

  Event begins_;
  Event ends_;
  bool open_ = false;  // something runs that compute() has not waited for
};

}  // namespace feedrate::trainer::cuda
