#pragma once
// The ways to compute a layer's products, their times, and the limits that choose among them best.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainer/backends/cpu/layer.h"
#include "trainer/backends/cpu/products/product_table.h"
#include "trainer/graph/memory_plan.h"

namespace feedrate::testing {
using namespace trainer;
using cpu::ProductLimits;

enum class Precision : std::uint8_t { fp32, bf16 };

/// Seconds of one convolution or dense layer, forward and backward.
struct LayerWays {
  std::string network;  // as given: "lenet,64"
  std::shared_ptr<const Plan> plan;
  cpu::LayerSite site;
  std::int64_t repeats = 1;      // layers of this shape in the network
  std::int64_t gemm_macs = 0;    // a dense layer: of one matrix product of one thread
  std::optional<double> gemm{};  // a convolution by matrix products, a dense layer by OpenBLAS
  double onednn = 0;
  std::optional<double> bf16{};  // by oneDNN, if cpu::multiplies_bf16()

  std::string text() const;  // a line of the bench
};

/// Measures each shape of the network's layers once. Throws Error.
std::vector<LayerWays> measure_layers(const std::string& network, unsigned threads);

/// Seconds of the network's products, each by the way that the limits choose.
double time_by(const ProductLimits& limits, const std::string& network,
               const std::vector<LayerWays>& layers, Precision precision);
/// Each by the fastest way.
double least_time(const std::string& network, const std::vector<LayerWays>& layers,
                  Precision precision);

/// The limits with the least sum, over networks and precisions, of time_by() / least_time(): each
/// limit in turn takes its best value until none changes.
ProductLimits fitted(ProductLimits start, const std::vector<std::string>& networks,
                     const std::vector<LayerWays>& layers);

/// As product_table.cpp writes them, without the processor.
std::string text_of(const ProductLimits& limits);

}  // namespace feedrate::testing
