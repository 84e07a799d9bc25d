#include "trainer/backends/cuda/layer.cuh"

#include <limits>

#include "formats/base/error.h"
#include "trainer/graph/op.h"

namespace feedrate::trainer::cuda {
using namespace formats;

#define FEEDRATE_ROW(name) std::unique_ptr<Layer> make_##name##_layer(const LayerSite& site);
#include "trainer/ops/list.inc"
#undef FEEDRATE_ROW

std::unique_ptr<Layer> make_layer(const LayerSite& site) {
#define FEEDRATE_ROW(kind) \
  if (site.node().op->name() == #kind) return make_##kind##_layer(site);
#include "trainer/ops/list.inc"
#undef FEEDRATE_ROW
  throw Error(join("operator ", site.node().op->name(), " has no CUDA half"));
}

int dimension(std::int64_t value) {
  if (value < 1 || value > std::numeric_limits<int>::max()) {
    throw Error(join("a dimension of ", value, " is outside 1 to 2147483647, the range of cuDNN"));
  }
  return static_cast<int>(value);
}

}  // namespace feedrate::trainer::cuda
