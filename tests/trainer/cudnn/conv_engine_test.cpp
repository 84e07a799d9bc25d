// Asks the real cuDNN for engines for the networks' convolutions, on GPUs given as descriptions: it
// must accept our graphs and offer an engine that keeps our promises.

#include "trainer/backends/cuda/products/conv_engine.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
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
std::map<std::string, ConvShape> shapes_of(ValueType type, std::string_view network = "",
                                           std::int64_t batch = images) {
  std::map<std::string, ConvShape> shapes;
  for (const Network* row : networks()) {
    if (!network.empty() && row->name() != network) continue;
    const Graph graph = row->build(row->published_input(), row->published_classes());
    const std::vector<Extent> stored = stored_extents(graph, type);
    for (const Node& node : graph.nodes) {
      if (node.op->traits().weights != WeightKind::filters) continue;
      const ConvShape shape = shape_of(node, stored[node.inputs[0]], batch, type);
      shapes.emplace(text_of(shape), shape);
    }
  }
  return shapes;
}

/// Bytes of workspace; absent if the engine cannot be built. Those that cuDNN compiles at run time
/// need a driver, and the toolkit's stub is none: choose_engine() would go on to the next one, too.
std::optional<std::size_t> workspace_of(ConvEngine engine) {
  try {
    return ConvExecution(nullptr, std::move(engine.config)).workspace();
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Whether an engine can be built within max_workspace.
bool any_usable(const ConvGraph& graph, Arithmetic arithmetic) {
  for (const cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
    for (ConvEngine& engine : engines_of(graph, mode, arithmetic)) {
      const auto workspace = workspace_of(std::move(engine));
      if (workspace && *workspace <= max_workspace) return true;
    }
  }
  return false;
}

/// The names of the engines that the heuristics offer.
std::set<std::string> offered(const ConvGraph& graph, Arithmetic arithmetic) {
  std::set<std::string> names;
  for (const ConvEngine& engine : engines_of(graph, CUDNN_HEUR_MODE_A, arithmetic)) {
    names.insert(engine.name);
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
          EXPECT_TRUE(any_usable(graph, arithmetic)) << name_of(direction) << ", " << text;
        }
      }
    }
  }
}

/// What choose_engine() measures: the engines of the first mode of which any can be built.
struct Offer {
  bool falls_back = true;
  bool tensor_cores = false;  // any of them
  bool too_large = false;     // the heuristics offered engines, but all need more workspace
};
Offer offer(const ConvGraph& graph, Arithmetic arithmetic) {
  Offer found;
  for (ConvEngine& engine : engines_of(graph, CUDNN_HEUR_MODE_A, arithmetic)) {
    const bool cores =
        std::ranges::find(engine.notes, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) != engine.notes.end();
    const auto workspace = workspace_of(std::move(engine));
    if (!workspace) continue;
    found.too_large |= *workspace > max_workspace;
    if (*workspace > max_workspace) continue;
    found.falls_back = false;
    found.tensor_cores |= cores;
    if (found.tensor_cores || arithmetic == Arithmetic::fma) break;
  }
  return found;
}

// With 256 MiB of workspace, some convolutions of ResNet-50 fell back to slow engines at batch 96
// and more. In strict fp32 the heuristics offer nothing but tensor cores for some shapes; there, and
// at batch 512, only fallbacks remain. At batch 512 some engines for tf32 need more on an A100.
TEST_P(ConformanceConvEngine, workspace_makes_no_convolution_of_resnet50_fall_back_at_any_batch) {
  const struct {
    ValueType type;
    Arithmetic arithmetic;
  } precisions[] = {{ValueType::fp32, Arithmetic::fma},
                    {ValueType::fp32, Arithmetic::tensor_cores},
                    {ValueType::bf16, Arithmetic::tensor_cores},
                    {ValueType::fp16, Arithmetic::tensor_cores}};
  for (const std::int64_t batch : {8, 64, 128, 256, 512}) {
    for (const auto& [type, arithmetic] : precisions) {
      for (const auto& [text, shape] : shapes_of(type, "resnet50", batch)) {
        for (const ConvDirection direction : directions) {
          const bool pixels = shape.in.channels != shape.out.channels && shape.kernel == 7;
          if (direction == ConvDirection::data && pixels) continue;  // they need no gradient
          const Offer found = offer(ConvGraph(nullptr, shape, direction), arithmetic);
          const bool strict = arithmetic == Arithmetic::fma;
          const bool excused = strict && (batch == 512 || !found.too_large);
          EXPECT_FALSE(found.falls_back && !excused) << name_of(direction) << ", " << text;
          if (type == ValueType::fp32 && batch == 512) continue;
          EXPECT_EQ(found.tensor_cores, !strict) << name_of(direction) << ", " << text;
        }
      }
    }
  }
}

// For all groups at once, cuDNN has no engine with tensor cores for some of these.
TEST_P(ConformanceConvEngine, gradients_of_grouped_filters_use_tensor_cores_group_by_group) {
  for (const ValueType type : {ValueType::bf16, ValueType::fp16}) {
    std::size_t grouped = 0;
    for (const auto& [text, shape] : shapes_of(type, "alexnet:caffe", 128)) {
      if (shape.groups == 1) continue;
      ++grouped;
      ASSERT_TRUE(splits_filters(shape)) << text;
      const Offer found = offer(ConvGraph(nullptr, group_of(shape), ConvDirection::filters),
                                Arithmetic::tensor_cores);
      EXPECT_TRUE(found.tensor_cores && !found.falls_back) << text;
    }
    EXPECT_EQ(grouped, 3U) << "conv2, conv4 and conv5";
  }
}

TEST_P(ConformanceConvEngine, different_engines_are_measured_before_other_knobs_of_one) {
  std::size_t repeated = 0;
  for (const auto& [text, shape] : shapes_of(ValueType::bf16, "resnet50", 256)) {
    const ConvGraph graph(nullptr, shape, ConvDirection::forward);
    std::set<std::int64_t> numbers;
    std::vector<std::int64_t> order;
    const auto engines = [&] {
      return engines_of(graph, CUDNN_HEUR_MODE_A, Arithmetic::tensor_cores);
    };
    for (const ConvEngine& engine : engines()) numbers.insert(engine.number);
    for (const ConvEngine& engine : different_first(engines())) order.push_back(engine.number);
    const auto split = order.begin() + static_cast<std::ptrdiff_t>(numbers.size());
    EXPECT_EQ(std::set(order.begin(), split), numbers) << text;
    repeated += order.size() - numbers.size();
  }
  EXPECT_GT(repeated, 0U);
}

TEST_P(ConformanceConvEngine, its_name_finds_it_again) {
  for (const auto& [text, shape] : shapes_of(ValueType::bf16)) {
    const auto names = [&] {
      const ConvGraph graph(nullptr, shape, ConvDirection::filters);
      return offered(graph, Arithmetic::tensor_cores);
    };
    EXPECT_EQ(names(), names()) << text;
  }
}

TEST_P(ConformanceConvEngine, what_would_round_fp32_or_differ_from_run_to_run_is_left_out) {
  std::size_t tensor_cores = 0, fma = 0;
  for (const auto& [text, shape] : shapes_of(ValueType::fp32)) {
    for (const ConvDirection direction : directions) {
      const ConvGraph graph(nullptr, shape, direction);
      tensor_cores += offered(graph, Arithmetic::tensor_cores).size();
      fma += offered(graph, Arithmetic::fma).size();
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
