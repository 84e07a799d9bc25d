#include "trainer/backends/cuda/op.cuh"

#include <limits>

#include "trainer/graph/op.h"

namespace feedrate::trainer::cuda {
using namespace formats;

std::unique_ptr<CudaOp> make_op(const OpSite& site) {
#define FEEDRATE_ROW(kind) \
  if (site.node.op->name() == #kind) return kind##_cuda(site);
#include "trainer/ops/list.inc"
#undef FEEDRATE_ROW
  throw Error(join("operator ", site.node.op->name(), " has no CUDA half"));
}

int dimension(std::int64_t value) {
  if (value < 1 || value > std::numeric_limits<int>::max()) {
    throw Error(join("a tensor with a side of ", value, " is more than cuDNN takes"));
  }
  return static_cast<int>(value);
}

}  // namespace feedrate::trainer::cuda
