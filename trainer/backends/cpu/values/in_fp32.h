#pragma once
// Layers that compute in fp32 wherever they stand. Where values lie in bf16, they are widened in
// front of such a layer and rounded behind it.

#include <memory>

#include "trainer/backends/cpu/layer.h"

namespace feedrate::trainer::cpu {

/// `layer` is made for fp32 values; the result takes and gives those of the site.
std::unique_ptr<Layer> widened(const LayerSite& site, std::unique_ptr<Layer> layer);

/// Returns what make(site) makes, for a site whose values are fp32.
template <class Make>
std::unique_ptr<Layer> in_fp32(const LayerSite& site, const Make& make) {
  if (site.input_type == ValueType::fp32 && site.type == ValueType::fp32) return make(site);
  LayerSite wide = site;
  wide.input_type = wide.type = ValueType::fp32;
  return widened(site, make(wide));
}

template <class LayerType>
std::unique_ptr<Layer> make_in_fp32(const LayerSite& site) {
  return in_fp32(site, [](const LayerSite& wide) { return std::make_unique<LayerType>(wide); });
}

}  // namespace feedrate::trainer::cpu
