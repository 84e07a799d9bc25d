#pragma once
// The minimum work of a training step, node by node: multiply-adds, and values moved from and to
// memory. This is the roofline of Williams, Waterman and Patterson (2009).

#include <string_view>
#include <vector>

#include "trainer/graph/memory_plan.h"

namespace feedrate::trainer {

/// What a device can do, measured.
struct Roof {
  double flops = 0;  // per second, of matrix products
  double bytes = 0;  // per second, read plus written, copying more than the caches hold
  std::string_view precision = "fp32";  // of these products
  double value_bytes = 4;               // of a value in this precision, as layers store it
};

/// Work of one pass over one node with a whole batch.
struct Work {
  double flops = 0;  // two for each multiply-add; element-wise arithmetic is not counted
  double bytes = 0;  // every value read or written once

  /// The minimum time on a device with this roof. Only values that are still in a cache allow less.
  double least_seconds(const Roof& roof) const;
};

struct NodeWork {
  Work forward;
  Work backward;  // zero where no backward pass runs
};

/// By node. Activations, their gradients and the parameters that products read take `value_bytes`
/// each; gradients of parameters are fp32 in every precision.
std::vector<NodeWork> count_work(const Plan& plan, double value_bytes = 4);

}  // namespace feedrate::trainer
