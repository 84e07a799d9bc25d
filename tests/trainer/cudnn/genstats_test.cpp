// What cuDNN offers for a convolution that also finds the sums of a norm behind it: why we use none
// of it (trainer/backends/cuda/products/README.md). If an answer changes, think again.

#include <cudnn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "tests/trainer/cudnn/described_gpu.h"
#include "trainer/backends/cuda/products/graph_descriptor.cuh"

namespace feedrate::trainer::cuda {

template <>
struct AttributeType<cudnnGenStatsMode_t> : AttributeTypeIs<CUDNN_TYPE_GENSTATS_MODE> {};

namespace {

using Sides = std::array<std::int64_t, 4>;

struct Window {
  Sides x, filter, y;
  std::int64_t stride, pad;
};
constexpr Window middle{{256, 64, 56, 56}, {64, 64, 3, 3}, {256, 64, 56, 56}, 1, 1};
constexpr Window stem{{256, 8, 224, 224}, {64, 8, 7, 7}, {256, 64, 112, 112}, 2, 3};

GraphDescriptor tensor(const Sides& sides, cudnnDataType_t type, std::int64_t uid) {
  const auto [n, c, h, w] = sides;
  GraphDescriptor made(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  made.set<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE, {type});
  made.set<std::int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS, sides);
  made.set<std::int64_t>(CUDNN_ATTR_TENSOR_STRIDES, {h * w * c, 1, w * c, c});
  made.set<std::int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID, {uid});
  made.set<std::int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {16});
  made.finalize();
  return made;
}

/// An engine's number, what cuDNN says of its numbers, and whether it is compiled at run time.
struct Offered {
  std::int64_t number;
  std::vector<cudnnBackendNumericalNote_t> notes;
  bool compiled;
  bool uses_tensor_cores() const {
    return std::ranges::find(notes, CUDNN_NUMERICAL_NOTE_TENSOR_CORE) != notes.end();
  }
};

/// The engines for y = convolution of x, with sums of y and of its squares over each channel.
std::vector<Offered> offered(const Window& window, cudnnDataType_t type) {
  const GraphDescriptor x = tensor(window.x, type, 1), filter = tensor(window.filter, type, 2),
                        y = tensor(window.y, type, 3);
  const Sides channels{1, window.y[1], 1, 1};
  const GraphDescriptor sums = tensor(channels, CUDNN_DATA_FLOAT, 4),
                        squares = tensor(channels, CUDNN_DATA_FLOAT, 5);
  GraphDescriptor convolution(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  convolution.set<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, {CUDNN_DATA_FLOAT});
  convolution.set<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE,
                                          {CUDNN_CROSS_CORRELATION});
  convolution.set<std::int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {2});
  convolution.set<std::int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS, {1, 1});
  convolution.set<std::int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES,
                                {window.stride, window.stride});
  for (const auto side :
       {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS}) {
    convolution.set<std::int64_t>(side, {window.pad, window.pad});
  }
  convolution.finalize();
  GraphDescriptor forward(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  forward.set_part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, x);
  forward.set_part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, filter);
  forward.set_part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, y);
  forward.set_part(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, convolution);
  forward.set<float>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, {1});
  forward.set<float>(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, {0});
  forward.finalize();
  GraphDescriptor statistics(CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR);
  statistics.set<cudnnGenStatsMode_t>(CUDNN_ATTR_OPERATION_GENSTATS_MODE,
                                      {CUDNN_GENSTATS_SUM_SQSUM});
  statistics.set<cudnnDataType_t>(CUDNN_ATTR_OPERATION_GENSTATS_MATH_PREC, {CUDNN_DATA_FLOAT});
  statistics.set_part(CUDNN_ATTR_OPERATION_GENSTATS_XDESC, y);
  statistics.set_part(CUDNN_ATTR_OPERATION_GENSTATS_SUMDESC, sums);
  statistics.set_part(CUDNN_ATTR_OPERATION_GENSTATS_SQSUMDESC, squares);
  statistics.finalize();
  GraphDescriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  const std::array parts{forward.handle(), statistics.handle()};
  check(cudnnBackendSetAttribute(graph.handle(), CUDNN_ATTR_OPERATIONGRAPH_OPS,
                                 CUDNN_TYPE_BACKEND_DESCRIPTOR, parts.size(), parts.data()),
        "operations");
  graph.finalize();

  GraphDescriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set_part(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristics.set<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE, {CUDNN_HEUR_MODE_A});
  heuristics.finalize();
  std::vector<Offered> found;
  for (const GraphDescriptor& config :
       heuristics.parts(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                        heuristics.count_parts(CUDNN_ATTR_ENGINEHEUR_RESULTS))) {
    const std::vector<GraphDescriptor> engine =
        config.parts(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
    const auto behaviour = engine[0].get_all<cudnnBackendBehaviorNote_t>(
        CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
    found.push_back(
        {engine[0].get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX),
         engine[0].get_all<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                        CUDNN_NUMERICAL_NOTE_TYPE_COUNT),
         std::ranges::find(behaviour, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) != behaviour.end()});
  }
  return found;
}

TEST(ConformanceGenstats, no_engine_for_an_h100_promises_the_same_bits_without_a_compiler) {
  const std::string problem = feedrate::testing::describe_gpu("NVIDIA H100");
  if (!problem.empty()) GTEST_SKIP() << problem;
  for (const cudnnDataType_t type : {CUDNN_DATA_FLOAT, CUDNN_DATA_BFLOAT16}) {
    for (const Window& window : {middle, stem}) {
      const std::vector<Offered> engines = offered(window, type);
      EXPECT_TRUE(std::ranges::all_of(engines, &Offered::compiled)) << type;
      EXPECT_TRUE(std::ranges::all_of(engines, &Offered::uses_tensor_cores)) << type;
    }
  }
  const std::vector<Offered> of_fp16 = offered(middle, CUDNN_DATA_HALF);
  const auto precompiled = std::ranges::find(of_fp16, false, &Offered::compiled);
  ASSERT_NE(precompiled, of_fp16.end());
  EXPECT_EQ(precompiled->notes.size(), 0U) << "not even that it uses tensor cores";
  EXPECT_TRUE(std::ranges::all_of(offered(stem, CUDNN_DATA_HALF), &Offered::compiled));
}

}  // namespace
}  // namespace feedrate::trainer::cuda
