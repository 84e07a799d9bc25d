#pragma once
// Times each node of a training step by events between the nodes' work: also in a recorded step, so
// that small kernels are timed without the host's launches between them. An event costs the device
// about a microsecond, so steps take longer than without.

#include <vector>

#include "trainer/backends/backend.h"
#include "trainer/backends/cuda/context.cuh"

namespace feedrate::trainer::cuda {

class NodeTimer {
 public:
  /// Makes `seconds` one entry for each of `nodes`; it must outlive the timer.
  NodeTimer(std::size_t nodes, std::vector<NodeSeconds>& seconds);

  /// Call them between the work that is queued, or recorded, on context.compute().
  void begin_forward(const Context& context) { mark(context, forward_.begin); }
  void end_forward(const Context& context, std::size_t node) { mark(context, forward_.ends[node]); }
  void begin_backward(const Context& context) { mark(context, backward_.begin); }
  void end_backward(const Context& context, std::size_t node) {
    mark(context, backward_.ends[node]);
  }
  /// Waits until the step is done and adds its times.
  void add_times(const Context& context);

 private:
  struct Mark {
    Event event;
    bool used = false;  // some nodes' work is done by others
  };
  struct Pass {
    explicit Pass(std::size_t nodes);
    Mark begin;
    std::vector<Mark> ends;  // by node
  };
  static void mark(const Context& context, Mark& mark);
  static double seconds_between(const Mark& begin, const Mark& end);

  std::vector<NodeSeconds>& seconds_;
  Pass forward_;
  Pass backward_;
};

}  // namespace feedrate::trainer::cuda
