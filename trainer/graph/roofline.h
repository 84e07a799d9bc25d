#pragma once
// The minimum work of a training step, node by node: multiply-adds, and values moved from and to
// memory. This is the roofline of Williams, Waterman and Patterson (2009).

#include <vector>

#include "trainer/graph/plan.h"

namespace feedrate::trainer {

/// What a device can do, measured.
struct Roof {
  double flops = 0;  // per second, of matrix products
  double bytes = 0;  // per second, read plus written, copying more than the caches hold
};

/// Work of one pass over one node with a whole batch.
struct Work {
  double flops = 0;  // two for each multiply-add; element-wise arithmetic is not counted
  double bytes = 0;  // every value read or written once, in fp32

  /// The minimum time on a device with this roof. Only values that are still in a cache allow less.
  double least_seconds(const Roof& roof) const;
};

struct NodeWork {
  Work forward;
  Work backward;  // zero where no backward pass runs
};

/// By node.
std::vector<NodeWork> count_work(const Plan& plan);

}  // namespace feedrate::trainer
