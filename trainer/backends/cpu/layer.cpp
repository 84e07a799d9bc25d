#include "trainer/backends/cpu/layer.h"

#include <algorithm>

#include "formats/base/error.h"
#include "trainer/graph/op.h"

namespace feedrate::trainer::cpu {
using namespace formats;

#define FEEDRATE_ROW(name) std::unique_ptr<Layer> make_##name##_layer(const LayerSite& site);
#include "trainer/ops/list.inc"
#undef FEEDRATE_ROW

Layer::Layer(const LayerSite& site, const Layout& output) : output_(output) {
  for (const std::size_t parameter : site.node().parameters) {
    parameter_sizes_.push_back(
        static_cast<std::size_t>(site.graph.parameters[parameter].elements()));
  }
}

std::size_t Layer::stored_size(std::size_t k) const { return parameter_sizes_.at(k); }

void Layer::to_stored(std::size_t, std::span<const float> canonical, float* stored) const {
  std::copy(canonical.begin(), canonical.end(), stored);
}

void Layer::from_stored(std::size_t, const float* stored, std::span<float> canonical) const {
  std::copy_n(stored, canonical.size(), canonical.begin());
}

std::unique_ptr<Layer> make_layer(const LayerSite& site) {
#define FEEDRATE_ROW(kind) \
  if (site.node().op->name() == #kind) return make_##kind##_layer(site);
#include "trainer/ops/list.inc"
#undef FEEDRATE_ROW
  throw Error(join("operator ", site.node().op->name(), " has no CPU layer"));
}

}  // namespace feedrate::trainer::cpu
