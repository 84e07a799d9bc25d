// Makes a row of the table of products (trainer/backends/cpu/products/product_table.cpp) for the
// processor at hand:
//
//   bench_products [--threads N] [NETWORK,BATCH …]
//
// computes each convolution and dense layer of the networks, once for each shape, in every way that
// the CPU backend has: forward and both gradients, milliseconds. The ways take turns, and the
// shortest time of each counts, so that load from other processes disturbs little. In bf16, the
// values on both sides lie in bf16; without instructions for it, fp32 alone is measured. Then: how
// much longer than the fastest ways the ways take that the table chooses, and the limits that would
// choose best.

#include <fmt/format.h>

#include <exception>

#include "formats/base/cores.h"
#include "formats/base/text.h"
#include "tests/trainer/products_fit.h"
#include "trainer/backends/cpu/products/gemm.h"
#include "trainer/backends/cpu/threads/omp_threads.h"

namespace feedrate::testing {
namespace {

void print_losses(std::string_view what, const ProductLimits& limits,
                  const std::vector<std::string>& networks, const std::vector<LayerWays>& layers) {
  fmt::print("{}: {}\n{:24} {:>8} {:>8}\n", what, text_of(limits), "  time / least time", "fp32",
             "bf16");
  for (const std::string& network : networks) {
    const auto loss = [&](Precision precision) {
      return time_by(limits, network, layers, precision) / least_time(network, layers, precision);
    };
    fmt::print("  {:22} {:8.3f}", network, loss(Precision::fp32));
    cpu::multiplies_bf16() ? fmt::print(" {:8.3f}\n", loss(Precision::bf16)) : fmt::print("\n");
  }
}

int run(int count, char** words) {
  unsigned threads = formats::usable_cores();
  std::vector<std::string> networks;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--threads" && i + 1 < count) {
      threads = static_cast<unsigned>(std::max(1, std::stoi(words[++i])));
    } else {
      networks.push_back(word);
    }
  }
  if (networks.empty()) {
    networks = {"lenet,64",          "alexnet:cifar,128",   "vgg16:cifar,128",
                "resnet56,128",      "googlenet:cifar,128", "resnet50,8",
                "googlenet:caffe,8", "googlenet,8"};
  }
  cpu::use_one_blas_thread(1);
  cpu::let_idle_threads_sleep(threads);
  const cpu::OmpThreads omp(threads);
  std::vector<LayerWays> layers;
  for (const std::string& network : networks) {
    for (LayerWays& layer : measure_layers(network, threads)) {
      fmt::print("{}\n", layer.text());
      std::fflush(stdout);
      layers.push_back(std::move(layer));
    }
  }
  const ProductLimits own = cpu::product_limits(), best = fitted(own, networks, layers);
  fmt::print("\nprocessor {}\n", cpu::processor_kind());
  print_losses("its row", own, networks, layers);
  print_losses("the row of any other", cpu::product_table().back(), networks, layers);
  print_losses("the row that fits best", best, networks, layers);
  return 0;
}

}  // namespace
}  // namespace feedrate::testing

int main(int count, char** words) {
  try {
    return feedrate::testing::run(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_products: {}\n", error.what());
    return 1;
  }
}
