// Fused passes give the bits of unfused ones in fp32, and follow the CPU in every precision.

#include <cstdlib>

#include "tests/trainer/blocks.h"
#include "tests/trainer/cuda_parity.h"
#include "trainer/graph/op.h"

namespace feedrate::testing {
using namespace trainer;

namespace {

class CudaFusion : public CudaParity {
 protected:
  void TearDown() override {
    CudaParity::TearDown();
    for (const char* name :
         {"FEEDRATE_UNFUSED", "FEEDRATE_EMULATED_BRANCHES", "FEEDRATE_EMULATED_LOST_WAIT"}) {
      unsetenv(name);
    }
  }

  /// All that three steps change, and their losses.
  std::vector<std::vector<float>> train(const Graph& graph, const std::string& precision,
                                        const char* unfused) const {
    setenv("FEEDRATE_UNFUSED", unfused, 1);
    const auto session = start(*cuda_, graph, 4, optimizer("sgd"), precision);
    std::vector<std::vector<float>> seen;
    for (std::uint64_t step = 0; step < 3; ++step) {
      session->upload(RandomBatch(graph, 4, step).batch());
      session->train_step(settings, step);
      seen.push_back({static_cast<float>(session->take_metrics().loss_sum)});
    }
    for (std::size_t p = 0; p < graph.parameters.size(); ++p) {
      seen.push_back(session->gradient(p));
      seen.push_back(session->parameter(p));
    }
    return seen;
  }
};

INSTANTIATE_TEST_SUITE_P(Cuda, CudaFusion, ::testing::Values(Device::real), device_label);
INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaFusion, ::testing::Values(Device::emulated),
                         device_label);

// What only the emulated device does: it counts, can be told to err, and rounds as the tests say.
class CudaFusionEmulated : public CudaFusion {};
INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaFusionEmulated,
                         ::testing::Values(Device::emulated), device_label);

// In fp32 a fused kernel computes what its parts compute. A real device may contract products and
// sums otherwise in one kernel than in two, so only the emulated one must give the same bits.
TEST_P(CudaFusionEmulated, fused_and_unfused_steps_give_the_same_bits_in_fp32) {
  for (const std::int64_t width : {8, 3}) {  // 16 bytes of channels a thread, and one channel
    const Graph graph = blocks(width);
    const auto expected = train(graph, "fp32", "all");
    EXPECT_EQ(train(graph, "fp32", ""), expected) << width;
    for (const char* one :
         {"norm-sum", "sum-gradient", "relu-gradient", "weight-branch", "early-kernels"}) {
      EXPECT_EQ(train(graph, "fp32", one), expected) << one << ", " << width;
    }
  }
}

// In 16 bits a norm's output is rounded before it is added, but not inside a fused kernel.
TEST_P(CudaFusionEmulated, gradients_fused_alone_give_the_same_bits_in_16_bits) {
  const Graph graph = blocks(8);
  for (const std::string precision : {"bf16", "fp16"}) {
    EXPECT_EQ(train(graph, precision, "norm-sum"), train(graph, precision, "all")) << precision;
  }
}

TEST_P(CudaFusion, blocks_follow_the_cpu) { expect_parity(blocks(4), 5, 3); }

TEST_P(CudaFusion, the_bits_do_not_depend_on_the_order_of_threads_and_blocks) {
  const Graph graph = blocks(8);
  const auto expected = train(graph, "bf16", "");
  for (const char* order : {"reversed", "interleaved"}) {
    setenv("FEEDRATE_EMULATED_ORDER", order, 1);
    EXPECT_EQ(train(graph, "bf16", ""), expected) << order;
  }
}

TEST_P(CudaFusionEmulated, a_branch_gives_the_same_bits_whether_it_runs_late_or_early) {
  const Graph graph = blocks(8);
  for (const std::string precision : {"fp32", "bf16"}) {
    const auto expected = train(graph, precision, "weight-branch");
    EXPECT_EQ(emulated_counts().beside, 0U);
    for (const char* when : {"late", "early"}) {
      setenv("FEEDRATE_EMULATED_BRANCHES", when, 1);
      EXPECT_EQ(train(graph, precision, ""), expected) << when << ", " << precision;
      EXPECT_GT(emulated_counts().beside, 0U);
    }
  }
}

// A branch that nobody waits for reads what was written later, where memory is reused at once, and
// its gradients are read before they are written.
TEST_P(CudaFusionEmulated, a_wait_for_the_branch_that_is_forgotten_shows) {
  const Graph graph = blocks(8);
  const auto expected = train(graph, "bf16", "");
  std::size_t convolutions = 0;
  for (const Node& node : graph.nodes) {
    convolutions += node.op->traits().weights == WeightKind::filters;
  }
  const auto shows = [&](std::size_t lost) {
    setenv("FEEDRATE_EMULATED_LOST_WAIT", std::to_string(lost).c_str(), 1);
    return train(graph, "bf16", "") != expected;
  };
  // Each convolution waits for the node before it, the first of them for the dense layer, and then
  // the update for the last.
  EXPECT_TRUE(shows(convolutions + 1));
  EXPECT_FALSE(shows(convolutions + 2)) << "there is no such wait";
  bool early = false;
  for (std::size_t lost = 1; lost <= convolutions && !early; ++lost) early = shows(lost);
  EXPECT_TRUE(early);
}

TEST_P(CudaFusion, outputs_are_those_of_the_cpu_although_training_does_not_write_them) {
  const Graph graph = blocks(8);
  const auto cpu = start(backend("cpu"), graph, 4);
  const auto gpu = start(*cuda_, graph, 4);
  for (Session* session : {cpu.get(), gpu.get()}) {
    session->upload(RandomBatch(graph, 4, 1).batch());
    session->train_step(settings, 0);
    session->upload(RandomBatch(graph, 4, 2).batch());
  }
  for (std::size_t node = 0; node + 1 < graph.nodes.size(); ++node) {
    std::vector<float> values[2];
    for (const std::size_t side : {0U, 1U}) {
      values[side].resize(4 * static_cast<std::size_t>(graph.nodes[node].extent.elements()));
      (side == 0 ? *cpu : *gpu).forward_to(node, values[side]);
    }
    EXPECT_LT(relative_difference(values[1], values[0]), 1e-4) << graph.nodes[node].name;
  }
}

TEST_P(CudaFusionEmulated, the_counted_passes_are_those_recorded_whatever_is_fused) {
  const Graph graph = blocks(8);
  for (const char* unfused :
       {"", "all", "norm-sum", "sum-gradient", "relu-gradient", "weight-branch", "early-kernels"}) {
    SCOPED_TRACE(unfused);
    train(graph, "bf16", unfused);
    expect_recorded(graph, 4, "bf16");
  }
}

}  // namespace
}  // namespace feedrate::testing
