#include "trainer/backends/cpu/products/product_choice.h"

#include <algorithm>

#include "formats/base/bytes.h"
#include "trainer/graph/op.h"
#include "trainer/ops/check.h"

namespace feedrate::trainer::cpu {
namespace {

// oneDNN computes channels in blocks of 16 at the processor's peak rate; matrix products reach 60
// to 80 % of it at any width. So oneDNN is faster unless much of its blocks is padding (LeNet's 20
// → 50 channels use about half). Measured on Zen 4, the two are equal where 0.6 of the work is
// useful.
constexpr std::int64_t block = 16;
constexpr double min_useful_share = 0.6;

// oneDNN does not pad the few channels of pixels; it blocks only the filters.
constexpr std::int64_t pixel_channels = 4;
constexpr double min_useful_filters = 0.7;

// The overhead of bf16, in the multiply-adds of a step that outweigh it: passes over memory that
// round values and weights, and a fixed cost for each layer, whose additional passes wake threads.
// Fitted to 850 layers of 16 networks at batches of 4 to 256 on two cores of a Zen 5: this choice
// saves five sixths of what the faster precision of each layer would.
constexpr std::int64_t macs_a_value = 64;
constexpr std::int64_t macs_a_weight = 16;
constexpr std::int64_t macs_a_layer = std::int64_t{80} << 20;

constexpr std::int64_t min_dense_side = 64;

bool suits_blocks(std::int64_t channels, std::int64_t filters) {
  const auto useful = [](std::int64_t n) {
    return static_cast<double>(n) / static_cast<double>(formats::round_up(n, block));
  };
  if (channels <= pixel_channels) return useful(filters) >= min_useful_filters;
  return channels >= block && filters >= block &&
         useful(channels) * useful(filters) >= min_useful_share;
}

// In a first layer whose filters do not fill whole blocks, oneDNN's weight gradients take four
// times as long in bf16 as in fp32.
bool suits_onednn_in_bf16(const LayerSite& site) {
  return suits_onednn(site) &&
         (site.input.extent.channels > pixel_channels || site.node().extent.channels % block == 0);
}

}  // namespace

bool suits_onednn(const LayerSite& site) {
  return groups_of(site.node().attributes) > 1 ||
         suits_blocks(site.input.extent.channels, site.node().extent.channels);
}

bool may_round(const LayerSite& site) {
  const Node& node = site.node();
  const WeightKind weights = node.op->traits().weights;
  if (weights == WeightKind::filters) return true;
  return weights == WeightKind::matrix &&
         std::min(site.input.extent.elements(), node.extent.channels) >= min_dense_side;
}

bool gains_by_bf16(const LayerSite& site) {
  const Node& node = site.node();
  const bool conv = node.op->traits().weights == WeightKind::filters;
  if (!may_round(site) || (conv && !suits_onednn_in_bf16(site))) return false;
  const Extent& in = site.input.extent;
  const auto macs =
      static_cast<std::int64_t>(node.op->macs(node.attributes, {&in, 1}, node.extent));
  const std::int64_t products = site.input_learns ? 3 : 2;  // forward, and the gradients
  const std::int64_t values = in.elements() + node.extent.elements();
  const std::int64_t weights = site.graph.parameters[node.parameters[0]].elements();
  return site.batch * (products * macs - macs_a_value * values) >=
         macs_a_layer + macs_a_weight * weights;
}

}  // namespace feedrate::trainer::cpu
