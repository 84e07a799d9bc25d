// The times of nodes on a CUDA device, and its roof.

#include "tests/trainer/cuda_parity.h"

namespace feedrate::testing {
using namespace trainer;

namespace {

class CudaTimer : public CudaParity {
 protected:
  void TearDown() override {
    CudaParity::TearDown();
    unsetenv("FEEDRATE_EMULATED_CAPTURE");
    unsetenv("FEEDRATE_UNFUSED");
  }
  static Graph graph() {
    Builder b("timed", {8, 8, 3}, 5);
    const auto x = b.relu(b.batch_norm(b.conv(b.input(0.01), 8, 3, 1, 1, {}), {}));
    return b.softmax_loss(b.dense(b.dropout(b.max_pool(x, 2, 2), 0.4), 5, {}));
  }

  struct Trained {
    std::vector<NodeSeconds> seconds;
    std::vector<float> weights;
    std::optional<bool> recorded;
  };
  Trained train(std::uint64_t steps, bool timed) const {
    Trained result;
    SessionOptions asked = options();
    if (timed) asked.node_seconds = &result.seconds;
    const auto session = cuda_->compile(make_plan(graph(), 6), asked);
    initialise(*session, 3);
    for (std::uint64_t step = 0; step < steps; ++step) {
      session->upload(RandomBatch(graph(), 6, step).batch());
      session->train_step(settings, step);
    }
    session->wait();
    result.weights = session->parameter(0);
    result.recorded = session->steps_recorded();
    return result;
  }
};

INSTANTIATE_TEST_SUITE_P(Cuda, CudaTimer, ::testing::Values(Device::real), device_label);
INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaTimer, ::testing::Values(Device::emulated),
                         device_label);

TEST_P(CudaTimer, every_node_that_works_has_its_time_and_no_other) {
  setenv("FEEDRATE_UNFUSED", "all", 1);
  const Plan plan = make_plan(graph(), 6);
  const Trained timed = train(4, true);
  EXPECT_EQ(timed.recorded, true);
  ASSERT_EQ(timed.seconds.size(), plan.graph.nodes.size());
  for (std::size_t i = 0; i < timed.seconds.size(); ++i) {
    SCOPED_TRACE(plan.graph.nodes[i].name);
    // The norm computes the relu that follows it, and pixels have no gradient.
    const bool merged = plan.graph.nodes[i].op->traits().is_relu;
    EXPECT_EQ(timed.seconds[i].forward > 0, !merged);
    EXPECT_EQ(timed.seconds[i].backward > 0, plan.learns[i]);
    EXPECT_LT(timed.seconds[i].forward + timed.seconds[i].backward, 1) << "seconds";
  }
}

TEST_P(CudaTimer, a_fused_pass_counts_for_the_node_that_does_it) {
  const std::vector<Node> nodes = graph().nodes;
  const Trained timed = train(4, true);
  ASSERT_EQ(timed.seconds.size(), nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    SCOPED_TRACE(nodes[i].name);
    if (nodes[i].op->traits().scales_channels) {  // the norm, which does the relu's, too
      EXPECT_GT(timed.seconds[i].backward, 0);
    }
    if (nodes[i].op->traits().is_relu) {
      EXPECT_EQ(timed.seconds[i].backward, 0);
    }
  }
}

TEST_P(CudaTimer, timing_changes_no_result) {
  EXPECT_EQ(train(4, true).weights, train(4, false).weights);
}

TEST_P(CudaTimer, its_roof_is_that_of_the_precision) {
  for (const std::string precision : {"fp32", "tf32", "bf16", "fp16"}) {
    const Roof roof = cuda_->measure_roof(0, precision);
    EXPECT_EQ(roof.precision, precision);
    EXPECT_EQ(roof.value_bytes, precision.ends_with("32") ? 4 : 2);
    EXPECT_GT(roof.flops, 0);
    EXPECT_GT(roof.bytes, 0);
    EXPECT_TRUE(std::isfinite(roof.flops) && std::isfinite(roof.bytes));
  }
  expect_error([&] { cuda_->measure_roof(0, "fp8"); }, {"fp32, tf32, bf16 or fp16", "fp8"});
}

// The emulated device's clock advances by a microsecond with each kernel.
class CudaTimerCount : public CudaTimer {};
INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaTimerCount, ::testing::Values(Device::emulated),
                         device_label);

TEST_P(CudaTimerCount, a_recorded_step_is_timed_like_one_of_single_kernels) {
  const Trained replayed = train(4, true);
  setenv("FEEDRATE_EMULATED_CAPTURE", "refused", 1);
  const Trained plain = train(4, true);
  EXPECT_EQ(replayed.recorded, true);
  EXPECT_EQ(plain.recorded, false);
  double seconds = 0;
  for (std::size_t i = 0; i < plain.seconds.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_NEAR(replayed.seconds[i].forward, plain.seconds[i].forward, 1e-9);
    EXPECT_NEAR(replayed.seconds[i].backward, plain.seconds[i].backward, 1e-9);
    seconds += plain.seconds[i].forward + plain.seconds[i].backward;
  }
  EXPECT_GT(seconds, 4 * 10e-6) << "more than ten kernels a step";
}

}  // namespace
}  // namespace feedrate::testing
