#include "tests/trainer/products_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "trainer/backends/cpu/products/product_choice.h"

namespace feedrate::testing {
namespace {

constexpr std::int64_t mega = std::int64_t{1} << 20;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

double chosen_in_fp32(const ProductLimits& limits, const LayerWays& layer) {
  if (!layer.gemm) return layer.onednn;
  const bool by_onednn = layer.gemm_macs != 0 ? layer.gemm_macs >= limits.onednn_gemm_macs
                                              : cpu::suits_onednn(layer.site, limits);
  return by_onednn ? layer.onednn : *layer.gemm;
}

double least_in_fp32(const LayerWays& layer) {
  return std::min(layer.onednn, layer.gemm.value_or(layer.onednn));
}

// The sum over the network's layers.
template <class Seconds>
double sum(const std::string& network, const std::vector<LayerWays>& layers,
           const Seconds& seconds) {
  return std::accumulate(layers.begin(), layers.end(), 0.0, [&](double all, const LayerWays& one) {
    return one.network == network ? all + static_cast<double>(one.repeats) * seconds(one) : all;
  });
}

double loss(const ProductLimits& limits, const std::vector<std::string>& networks,
            const std::vector<LayerWays>& layers) {
  double all = 0;
  for (const std::string& network : networks) {
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
      if (precision == Precision::bf16 && !cpu::multiplies_bf16()) continue;
      all += time_by(limits, network, layers, precision) / least_time(network, layers, precision);
    }
  }
  return all;
}

}  // namespace

double time_by(const ProductLimits& limits, const std::string& network,
               const std::vector<LayerWays>& layers, Precision precision) {
  return sum(network, layers, [&](const LayerWays& layer) {
    const bool narrow = precision == Precision::bf16 && cpu::gains_by_bf16(layer.site, limits);
    return narrow ? layer.bf16.value() : chosen_in_fp32(limits, layer);
  });
}

double least_time(const std::string& network, const std::vector<LayerWays>& layers,
                  Precision precision) {
  return sum(network, layers, [&](const LayerWays& layer) {
    const double wide = least_in_fp32(layer);
    const bool narrow = precision == Precision::bf16 && cpu::may_round(layer.site);
    return narrow ? std::min(wide, layer.bf16.value()) : wide;
  });
}

ProductLimits fitted(ProductLimits best, const std::vector<std::string>& networks,
                     const std::vector<LayerWays>& layers) {
  const std::vector<double> shares = {0, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9, 1};
  const std::vector<std::int64_t> macs = {0, 8, 16, 24, 32, 48, 64, 128};
  const std::vector<std::int64_t> large = {mega / 4,  mega / 2,   mega,      2 * mega,
                                           4 * mega,  8 * mega,   16 * mega, 40 * mega,
                                           80 * mega, 160 * mega, never};
  double least = loss(best, networks, layers);
  const auto improve = [&](auto ProductLimits::*limit, const auto& values) {
    bool improved = false;
    for (const auto value : values) {
      ProductLimits other = best;
      other.*limit = value;
      const double found = loss(other, networks, layers);
      if (found >= least) continue;
      least = found, best = other, improved = true;
    }
    return improved;
  };
  for (bool again = true; again;) {
    again = improve(&ProductLimits::filters_of_few_channels, shares);
    again |= improve(&ProductLimits::both, shares);
    again |= improve(&ProductLimits::both_in_bf16, shares);
    again |= improve(&ProductLimits::macs_a_value, macs);
    again |= improve(&ProductLimits::macs_a_weight, macs);
    again |= improve(&ProductLimits::macs_a_layer, large);
    again |= improve(&ProductLimits::onednn_gemm_macs, large);
  }
  return best;
}

std::string text_of(const ProductLimits& limits) {
  const auto macs = [](std::int64_t value) {
    if (value == never) return std::string("never");
    return fmt::format("{:g} * mega", static_cast<double>(value) / static_cast<double>(mega));
  };
  return fmt::format("{}, {}, {}, {}, {}, {}, {}", limits.filters_of_few_channels, limits.both,
                     limits.both_in_bf16, limits.macs_a_value, limits.macs_a_weight,
                     macs(limits.macs_a_layer), macs(limits.onednn_gemm_macs));
}

}  // namespace feedrate::testing
