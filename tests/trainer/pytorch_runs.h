#pragma once
// Runs of PyTorch, recorded by parity/make_network_parity.py and make_imagenet_parity.py.

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/places.h"
#include "tests/trainer/batches.h"
#include "trainer/backends/backend.h"
#include "trainer/graph/changes.h"
#include "trainer/networks/network.h"

namespace feedrate::testing {
using namespace trainer;

inline nlohmann::json stored_parity(const std::string& name) {
  std::ifstream file(source_directory() / "tests/trainer/parity" / (name + ".json"));
  return nlohmann::json::parse(file);
}

struct PytorchRun {
  std::string title;
  nlohmann::json expected;

  std::string network() const { return expected["network"]; }
  std::uint64_t steps() const { return expected["losses"].size(); }
  double loss(std::uint64_t step) const { return expected["losses"][step]; }
  /// The largest relative difference that PyTorch's own autocast to bf16 makes in a loss.
  double bf16_differs() const { return expected["bf16_differs"]; }

  Graph graph() const {
    const Network& net = feedrate::trainer::network(network());
    const std::uint32_t side = expected["side"];
    Graph graph = net.build({side, side, net.published_input().channels}, 10);
    apply({.zero_gamma = expected["zero_gamma"]}, graph);
    return graph;
  }
  std::uint32_t batch() const { return expected["batch"]; }
  /// Two epochs, the last batch of each smaller.
  RandomSource images(const Graph& graph) const {
    const std::uint64_t fewer = std::min<std::uint32_t>(3, batch() - 1);
    return RandomSource(
        {.shape = graph.input, .batch = batch(), .images = batch() * steps() - fewer, .epochs = 2});
  }
  UpdateSettings settings() const {
    return {.rate = expected["rate"], .momentum = 0.9, .decay = 5e-4};
  }
};

inline void PrintTo(const PytorchRun& run, std::ostream* out) { *out << run.title; }

inline std::vector<PytorchRun> pytorch_runs(const std::string& file) {
  const nlohmann::json all = stored_parity(file);
  std::vector<PytorchRun> runs;
  for (const auto& [title, run] : all.at("runs").items()) runs.push_back({title, run});
  return runs;
}

}  // namespace feedrate::testing
