#include "trainer/backends/cpu/products/product_choice.h"

#include <algorithm>

#include "formats/base/bytes.h"
#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer::cpu {
namespace {

// oneDNN computes channels in blocks of 16 at the processor's peak rate; matrix products reach 60
// to 80 % of it at any width. So oneDNN is faster unless much of its blocks is padding (LeNet's 20
// → 50 channels use about half). bf16 doubles its rate, and so bears more padding.
constexpr std::int64_t block = 16;

// oneDNN does not pad the few channels of pixels; it blocks only the filters.
constexpr std::int64_t pixel_channels = 4;

constexpr std::int64_t min_dense_side = 64;

double useful(std::int64_t n) {
  return static_cast<double>(n) / static_cast<double>(formats::round_up(n, block));
}

// In a first layer whose filters do not fill whole blocks, oneDNN's weight gradients take four
// times as long in bf16 as in fp32.
bool suits_onednn_in_bf16(const LayerSite& site, const ProductLimits& limits) {
  const std::int64_t channels = site.input.extent.channels, filters = site.node().extent.channels;
  if (groups_of(site.node().attributes) > 1)
    return channels > pixel_channels || filters % block == 0;
  if (channels <= pixel_channels) return filters % block == 0;
  return std::min(channels, filters) >= block &&
         useful(channels) * useful(filters) >= limits.both_in_bf16;
}

}  // namespace

bool suits_onednn(const LayerSite& site, const ProductLimits& limits) {
  if (groups_of(site.node().attributes) > 1) return true;
  const std::int64_t channels = site.input.extent.channels, filters = site.node().extent.channels;
  if (channels <= pixel_channels) return useful(filters) >= limits.filters_of_few_channels;
  return std::min(channels, filters) >= block && useful(channels) * useful(filters) >= limits.both;
}

bool may_round(const LayerSite& site) {
  const Node& node = site.node();
  const WeightKind weights = node.op->traits().weights;
  if (weights == WeightKind::filters) return true;
  return weights == WeightKind::matrix &&
         std::min(site.input.extent.elements(), node.extent.channels) >= min_dense_side;
}

bool gains_by_bf16(const LayerSite& site, const ProductLimits& limits) {
  const Node& node = site.node();
  const bool conv = node.op->traits().weights == WeightKind::filters;
  if (!may_round(site) || (conv && !suits_onednn_in_bf16(site, limits))) return false;
  const Extent& in = site.input.extent;
  const auto macs =
      static_cast<std::int64_t>(node.op->macs(node.attributes, {&in, 1}, node.extent));
  const std::int64_t products = site.input_learns ? 3 : 2;  // forward, and the gradients
  const std::int64_t values = in.elements() + node.extent.elements();
  const std::int64_t weights = site.graph.parameters[node.parameters[0]].elements();
  return site.batch * (products * macs - limits.macs_a_value * values) >=
         limits.macs_a_layer + limits.macs_a_weight * weights;
}

}  // namespace feedrate::trainer::cpu
