#pragma once
// What a training step needs at least of a device, node by node: multiply-adds, and values that
// have to come from memory and go back. The roofline of Williams, Waterman and Patterson (2009).

#include <vector>

#include "trainer/graph/plan.h"

namespace feedrate::trainer {

/// What a device can do, measured.
struct Roof {
  double flops = 0;  // per second, of matrix products
  double bytes = 0;  // per second, read and written, of copying what is larger than the caches
};

/// Of one pass over one node with a whole batch.
struct Work {
  double flops = 0;  // two for each multiply-add; single values' arithmetic is not counted
  double bytes = 0;  // every value read or written once, in fp32

  /// The least time that a device with this roof can do it in. Less is possible only where values
  /// still lie in a cache.
  double least_seconds(const Roof& roof) const;
};

struct NodeWork {
  Work forward;
  Work backward;  // nothing where nobody learns
};

/// By node.
std::vector<NodeWork> count_work(const Plan& plan);

}  // namespace feedrate::trainer
