// Asks the real cuDNN for engines for the networks' convolutions, on GPUs given as descriptions: it
// must accept our graphs and offer an engine that keeps our promises.

#include "trainer/backends/cuda/products/conv_engine.cuh"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "formats/base/error.h"
#include "tests/trainer/cudnn/described_gpu.h"
#include "trainer/backends/cuda/layout.cuh"
#include "trainer/graph/op.h"
#include "trainer/networks/network.h"

namespace feedrate::trainer::cuda {
using namespace formats;

namespace {

constexpr std::uint32_t images = 32;
constexpr ConvDirection directions[] = {ConvDirection::forward, ConvDirection::data,
                                        ConvDirection::filters};

/// Every shape of a convolution in our networks, as it lies in memory, by its text.
std::map<std::string, ConvShape> shapes_of(ValueType type) {
  std::map<std::string, ConvShape> shapes;
  for (const Network* row : networks()) {
    const Graph graph = row->build(row->published_input(), row->published_classes());
    const std::vector<Extent> stored = stored_extents(graph, type);
    for (const Node& node : graph.nodes) {
      if (node.op->traits().weights != WeightKind::filters) continue;
      const ConvShape shape = shape_of(node, stored[node.inputs[0]], images, type);
      shapes.emplace(text_of(shape), shape);
    }
  }
  return shapes;
}

/// The names of the engines that can be built within workspace_limit.
std::set<std::string> usable(const ConvGraph& graph, Arithmetic arithmetic) {
  std::set<std::string> names;
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    for (ConvEngine& engine : engines_of(graph, mode, arithmetic)) {
      const ConvExecution execution(nullptr, std::move(engine.config));
      if (execution.workspace() <= workspace_limit) names.insert(engine.name);
    }
    if (!names.empty()) break;  // as choose_engine() does
  }
  return names;
}

class ConformanceConvEngine : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string problem = feedrate::testing::describe_gpu(GetParam());
    if (!problem.empty()) GTEST_SKIP() << problem;
  }
};

INSTANTIATE_TEST_SUITE_P(, ConformanceConvEngine, ::testing::Values("NVIDIA H100", "NVIDIA A100"),
                         [](const auto& gpu) { return std::string(gpu.param).substr(7); });

TEST_P(ConformanceConvEngine, cudnn_has_one_for_every_convolution_in_every_precision) {
  for (const ValueType type : {ValueType::fp32, ValueType::bf16, ValueType::fp16}) {
    for (const auto& [text, shape] : shapes_of(type)) {
      for (const ConvDirection direction : directions) {
        const ConvGraph graph(nullptr, shape, direction);
        for (const Arithmetic arithmetic : {Arithmetic::tensor_cores, Arithmetic::fma}) {
          if (type != ValueType::fp32 && arithmetic == Arithmetic::fma) continue;
          EXPECT_FALSE(usable(graph, arithmetic).empty()) << name_of(direction) << ", " << text;
        }
      }
    }
  }
}

TEST_P(ConformanceConvEngine, its_name_finds_it_again) {
  for (const auto& [text, shape] : shapes_of(ValueType::bf16)) {
    const auto names = [&] {
      const ConvGraph graph(nullptr, shape, ConvDirection::filters);
      return usable(graph, Arithmetic::tensor_cores);
    };
    EXPECT_EQ(names(), names()) << text;
  }
}

TEST_P(ConformanceConvEngine, what_would_round_fp32_or_differ_from_run_to_run_is_left_out) {
  std::size_t tensor_cores = 0, fma = 0;
  for (const auto& [text, shape] : shapes_of(ValueType::fp32)) {
    for (const ConvDirection direction : directions) {
      const ConvGraph graph(nullptr, shape, direction);
      tensor_cores += usable(graph, Arithmetic::tensor_cores).size();
      fma += usable(graph, Arithmetic::fma).size();
    }
  }
  EXPECT_LT(fma, tensor_cores / 2) << "most that cuDNN offers uses tensor cores";
}

TEST_P(ConformanceConvEngine, a_shape_that_does_not_fit_is_refused_with_cudnns_reason) {
  ConvShape shape{.images = 2,
                  .in = {3, 8, 8},
                  .out = {4, 9, 8},  // should be 8 high
                  .kernel = 3,
                  .stride = 1,
                  .pad = 1};
  try {
    const ConvGraph graph(nullptr, shape, ConvDirection::forward);
    FAIL() << "taken";
  } catch (const Error& problem) {
    EXPECT_NE(std::string(problem.what()).find("cuDNN: "), std::string::npos) << problem.what();
  }
}

}  // namespace
}  // namespace feedrate::trainer::cuda
