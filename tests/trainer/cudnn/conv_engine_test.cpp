// Asks the real cuDNN for engines for the networks' convolutions, on GPUs given as descriptions: it
// must accept our graphs and offer an engine that keeps our promises.

#include "trainer/backends/cuda/products/conv_engine.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
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
    const std::vector<StoredExtent> stored = stored_extents(graph, type);
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

bool uses_tensor_cores(const ConvEngine& engine) {
  return std::ranges::find(engine.notes, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) != engine.notes.end();
}

/// What choose_engine() looks for: an engine as fast as the precision lets one expect, and the
/// parts in which the batch then runs.
struct Fast {
  std::int64_t parts;
  bool accepted;  // cuDNN proposes it as a fallback, but nothing faster that keeps our promises
};
std::optional<Fast> find_fast(const ConvShape& shape, ConvDirection direction,
                              Arithmetic arithmetic) {
  for (std::int64_t parts = 1; parts <= max_conv_parts; ++parts) {
    if (!can_split(shape, direction, parts)) continue;
    const ConvGraph graph(nullptr, part_of(shape, parts), direction);
    bool lacks_room = false;
    const auto any = [&](std::vector<ConvEngine> engines, bool stops_without_room) {
      return std::ranges::any_of(engines, [&](ConvEngine& engine) {
        if (arithmetic == Arithmetic::tensor_cores && !uses_tensor_cores(engine)) return false;
        const auto workspace = workspace_of(std::move(engine));
        lacks_room |= workspace && *workspace > max_workspace;
        return workspace && *workspace <= max_workspace && !(stops_without_room && lacks_room);
      });
    };
    std::vector<ConvEngine> proposed = engines_of(graph, CUDNN_HEUR_MODE_A, arithmetic);
    const bool none = proposed.empty();
    if (any(std::move(proposed), false)) return Fast{parts, false};
    const bool accepts = none && arithmetic == Arithmetic::fma;
    if (accepts && any(engines_of(graph, CUDNN_HEUR_MODE_FALLBACK, arithmetic), true)) {
      return Fast{parts, true};
    }
    if (!lacks_room) return std::nullopt;
  }
  return std::nullopt;
}

struct Precision {
  const char* name;
  ValueType type;
  Arithmetic arithmetic;
};
constexpr Precision fp32{"fp32", ValueType::fp32, Arithmetic::fma};
constexpr Precision tf32{"tf32", ValueType::fp32, Arithmetic::tensor_cores};
constexpr Precision bf16{"bf16", ValueType::bf16, Arithmetic::tensor_cores};
constexpr Precision fp16{"fp16", ValueType::fp16, Arithmetic::tensor_cores};

struct Grid {
  std::size_t products = 0, split = 0, accepted = 0;
};

/// Expects a fast engine for each product of a network ("": of all of them) at every batch.
Grid expect_no_fallback(std::string_view network, std::initializer_list<Precision> precisions,
                        std::initializer_list<std::int64_t> batches) {
  Grid seen;
  for (const std::int64_t batch : batches) {
    for (const auto& [precision, type, arithmetic] : precisions) {
      for (const auto& [text, whole] : shapes_of(type, network, batch)) {
        for (const ConvDirection direction : directions) {
          const bool splits = direction == ConvDirection::filters && splits_filters(whole);
          const ConvShape shape = splits ? group_of(whole) : whole;
          const std::optional<Fast> fast = find_fast(shape, direction, arithmetic);
          EXPECT_TRUE(fast) << precision << ", " << name_of(direction) << ", " << text;
          if (!fast) continue;
          ++seen.products;
          seen.split += fast->parts > 1;
          seen.accepted += fast->accepted;
        }
      }
    }
  }
  return seen;
}

TEST_P(ConformanceConvEngine, no_convolution_of_resnet50_falls_back_at_any_batch) {
  const Grid seen = expect_no_fallback("resnet50", {fp32, tf32, bf16, fp16}, {8, 64, 256, 512});
  EXPECT_EQ(seen.products, 4U * 4 * 3 * 23);
  EXPECT_GT(seen.split, 0U) << "at 512, some engines need more workspace than there may be";
}

TEST_P(ConformanceConvEngine, no_convolution_of_a_network_falls_back) {
  const bool all = std::getenv("FEEDRATE_LONG_TESTS") != nullptr;  // 3 minutes
  const Grid seen = all ? expect_no_fallback("", {fp32, tf32, bf16, fp16}, {8, 64, 128, 256, 512})
                        : expect_no_fallback("", {fp32, tf32}, {512});
  EXPECT_GT(seen.accepted, 0U) << "of strict fp32, cuDNN proposes tensor cores alone for some";
  EXPECT_LT(seen.accepted + seen.split, seen.products / 10);
}

/// The numbers of all engines that this cuDNN has for a graph, that keep our promises and that it
/// can build without a driver.
std::set<std::int64_t> all_that_work(const ConvGraph& graph, Arithmetic arithmetic) {
  std::set<std::int64_t> found;
  const auto count =
      graph.operations().get<std::int64_t>(CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT);
  for (std::int64_t number = 0; number < count; ++number) {
    try {
      GraphDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
      engine.set_part(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph.operations());
      engine.set<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, {number});
      engine.finalize();
      GraphDescriptor config(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
      config.set_part(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
      config.finalize();
      ConvEngine made{std::move(config), number, "",
                      engine.get_all<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                                  CUDNN_NUMERICAL_NOTE_TYPE_COUNT)};
      const auto behaviour = engine.get_all<cudnnBackendBehaviorNote_t>(
          CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
      const bool compiles =
          std::ranges::find(behaviour, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) != behaviour.end();
      if (compiles || !keeps_promises(made, arithmetic)) continue;
      if (workspace_of(std::move(made))) found.insert(number);
    } catch (const Error&) {
      // It is not for this graph, or not for this GPU.
    }
  }
  return found;
}

// choose_engine() measures all fallbacks where cuDNN proposes nothing without tensor cores. It has
// nothing else that would work, but one that writes out the window of each pixel first (im2col),
// which no heuristic proposes.
TEST_P(ConformanceConvEngine, accepted_fallbacks_are_all_that_cudnn_has_in_strict_fp32) {
  constexpr std::int64_t im2col = 2;  // forward only
  std::size_t graphs = 0;
  for (const auto& [text, shape] : shapes_of(ValueType::fp32, "", 512)) {
    for (const ConvDirection direction : directions) {
      const ConvGraph graph(nullptr, shape, direction);
      if (!engines_of(graph, CUDNN_HEUR_MODE_A, Arithmetic::fma).empty()) continue;
      ++graphs;
      std::set<std::int64_t> proposed;
      for (ConvEngine& engine : engines_of(graph, CUDNN_HEUR_MODE_FALLBACK, Arithmetic::fma)) {
        const std::int64_t number = engine.number;
        if (workspace_of(std::move(engine))) proposed.insert(number);
      }
      std::set<std::int64_t> all = all_that_work(graph, Arithmetic::fma);
      if (direction == ConvDirection::forward) all.erase(im2col);
      EXPECT_TRUE(std::ranges::includes(proposed, all)) << name_of(direction) << ", " << text;
      EXPECT_GE(all.size(), 3U) << text;
    }
  }
  EXPECT_GT(graphs, 0U);
}

// For all groups at once, cuDNN has no engine with tensor cores for some of these.
TEST_P(ConformanceConvEngine, gradients_of_grouped_filters_use_tensor_cores_group_by_group) {
  for (const ValueType type : {ValueType::bf16, ValueType::fp16}) {
    std::size_t grouped = 0;
    for (const auto& [text, shape] : shapes_of(type, "alexnet:caffe", 128)) {
      if (shape.groups == 1) continue;
      ++grouped;
      ASSERT_TRUE(splits_filters(shape)) << text;
      EXPECT_TRUE(find_fast(group_of(shape), ConvDirection::filters, Arithmetic::tensor_cores))
          << text;
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
