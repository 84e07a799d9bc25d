// Which of the two convolutions runs is a rule of the shape alone, never of a stopwatch: the same
// network always computes the same bits.

#include "trainer/backends/cpu/gemm_conv.h"
#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/onednn_conv.h"
#include "trainer/ops/check.h"

namespace feedrate::cpu {
namespace {

// oneDNN computes channels in blocks of 16, at the processor's peak; matrix products reach 60 to 80
// % of it at any width. So oneDNN wins unless much of its blocks is filling (LeNet's 20 → 50
// channels fill less than half). Measured on Zen 4, the two are even where 0.6 of the work is of
// use.
constexpr std::int64_t block = 16;
constexpr double least_useful_share = 0.6;

// Pixels' own channels it leaves as they are, and blocks the filters alone.
constexpr std::int64_t pixel_channels = 4;
constexpr double least_useful_filters = 0.7;

bool suits_blocks(std::int64_t channels, std::int64_t filters) {
  const auto useful = [](std::int64_t n) {
    return static_cast<double>(n) / static_cast<double>((n + block - 1) / block * block);
  };
  if (channels <= pixel_channels) return useful(filters) >= least_useful_filters;
  return channels >= block && filters >= block &&
         useful(channels) * useful(filters) >= least_useful_share;
}

}  // namespace

std::unique_ptr<Layer> make_conv_layer(const LayerSite& site) {
  // OpenBLAS multiplies in fp32 alone.
  if (site.bf16 || groups_of(site.node().attributes) > 1 ||
      suits_blocks(site.input.extent.channels, site.node().extent.channels)) {
    return make_onednn_conv(site);
  }
  return std::make_unique<GemmConv>(site);
}

}  // namespace feedrate::cpu
