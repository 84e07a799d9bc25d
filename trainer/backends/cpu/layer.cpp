#include "trainer/backends/cpu/layer.h"

#include <algorithm>

#include "trainer/graph/op.h"

namespace feedrate::trainer::cpu {

#define FEEDRATE_OP(name) std::unique_ptr<Layer> make_##name##_layer(const LayerSite& site);
#include "trainer/ops/list.inc"
#undef FEEDRATE_OP

Layer::Layer(const LayerSite& site, const Layout& output) : output_(output) {
  for (const std::size_t parameter : site.node().parameters) {
    parameter_sizes_.push_back(
        static_cast<std::size_t>(site.graph.parameters[parameter].elements()));
  }
}

std::size_t Layer::own_size(std::size_t k) const { return parameter_sizes_.at(k); }

void Layer::to_own(std::size_t, std::span<const float> canonical, float* own) const {
  std::copy(canonical.begin(), canonical.end(), own);
}

void Layer::from_own(std::size_t, const float* own, std::span<float> canonical) const {
  std::copy_n(own, canonical.size(), canonical.begin());
}

std::unique_ptr<Layer> make_layer(const LayerSite& site) {
  using Make = std::unique_ptr<Layer> (*)(const LayerSite&);
  static constexpr struct {
    std::string_view op;
    Make make;
  } rows[] = {
#define FEEDRATE_OP(name) {#name, make_##name##_layer},
#include "trainer/ops/list.inc"
#undef FEEDRATE_OP
  };
  const std::string_view wanted = site.node().op->name();
  const auto* row = std::find_if(std::begin(rows), std::end(rows),
                                 [wanted](const auto& r) { return r.op == wanted; });
  return row->make(site);  // list.inc names every op, so the row is there
}

}  // namespace feedrate::trainer::cpu
