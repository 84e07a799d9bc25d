// fp16 on the CUDA backend: losses are scaled so that gradients do not vanish, and a scale that is
// too large does not count as divergence.

#include "tests/support/temp_directory.h"
#include "tests/trainer/cuda_parity.h"
#include "trainer/loop/checkpoint.h"

namespace feedrate::testing {
using namespace trainer;

namespace {

class CudaLossScale : public CudaParity {
 protected:
  static Graph graph() {
    Builder b("scaled", {4, 4, 1}, 3);
    return b.softmax_loss(b.dense(b.relu(b.dense(b.input(1.0 / 255), 8, {})), 3, {}));
  }
  std::unique_ptr<Session> start16(const std::string& precision = "fp16") const {
    return start(*cuda_, graph(), 4, optimizer("sgd"), precision);
  }
  static void train(Session& session, std::uint64_t step, double rate = 0.01) {
    session.upload(RandomBatch(session.plan().graph, 4, step).batch());
    session.train_step({.rate = rate, .momentum = 0.9}, step);
  }
  static std::vector<std::vector<float>> parameters(const Session& session) {
    std::vector<std::vector<float>> all;
    for (std::size_t p = 0; p < session.plan().graph.parameters.size(); ++p) {
      all.push_back(session.parameter(p));
    }
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(Cuda, CudaLossScale, ::testing::Values(Device::real), device_label);
INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaLossScale, ::testing::Values(Device::emulated),
                         device_label);

TEST_P(CudaLossScale, only_fp16_scales) {
  EXPECT_FALSE(start16("fp32")->loss_scale());
  EXPECT_FALSE(start16("bf16")->loss_scale());
  ASSERT_TRUE(start16()->loss_scale());
  EXPECT_EQ(start16()->loss_scale()->scale, 65536U);
  SessionOptions evaluates;
  evaluates.precision = "fp16";
  EXPECT_FALSE(cuda_->compile(make_plan(graph(), 4), evaluates)->loss_scale());
}

TEST_P(CudaLossScale, gradients_are_those_of_the_loss_itself) {
  const auto small = start16(), large = start16();
  small->set_loss_scale({.scale = 64});
  large->set_loss_scale({.scale = 4096});
  train(*small, 0);
  train(*large, 0);
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_LT(relative_difference(large->gradient(p), small->gradient(p)), 1e-2);
  }
}

TEST_P(CudaLossScale, a_step_that_overflows_is_left_out_and_halves_the_scale) {
  const auto session = start16();
  session->set_loss_scale({.scale = 1U << 24, .good_steps = 7});
  const auto before = parameters(*session);
  const std::size_t replayed = graphs();
  std::uint64_t step = 0;
  // Gradients are means over four images: 2^24 / 4 times a probability exceeds fp16's 65504.
  for (; step < 4; ++step) {
    train(*session, step);
    session->wait();
    EXPECT_EQ(session->loss_scale()->scale, 1U << (23 - step));
    EXPECT_EQ(session->loss_scale()->good_steps, 0U);
    EXPECT_EQ(parameters(*session), before) << "step " << step;
    EXPECT_EQ(session->state(0, 0), std::vector<float>(session->state(0, 0).size()));
  }
  for (; step < 16; ++step) train(*session, step);
  session->wait();
  EXPECT_FALSE(session->divergence()) << "an overflow of scaled gradients is none";
  EXPECT_NE(parameters(*session), before);
  EXPECT_LT(session->loss_scale()->scale, 1U << 20);
  EXPECT_GT(session->loss_scale()->good_steps, 0U);
  EXPECT_TRUE(std::isfinite(session->take_metrics().loss_sum));
  if (GetParam() == Device::emulated) {
    EXPECT_EQ(graphs() - replayed, 15U) << "all but the first step are one recorded piece";
  }
}

TEST_P(CudaLossScale, many_good_steps_double_the_scale) {
  const auto session = start16();
  session->set_loss_scale({.scale = 256, .good_steps = 1997});
  std::vector<std::uint64_t> scales;
  for (std::uint64_t step = 0; step < 4; ++step) {
    train(*session, step);
    scales.push_back(session->loss_scale()->scale);
  }
  EXPECT_EQ(scales, (std::vector<std::uint64_t>{256, 256, 512, 512}));
  EXPECT_EQ(session->loss_scale()->good_steps, 1U);
  session->set_loss_scale({.scale = 1, .good_steps = 1999});
  train(*session, 4);
  EXPECT_EQ(session->loss_scale()->scale, 2U);
}

TEST_P(CudaLossScale, a_loss_that_is_not_finite_is_a_divergence_and_no_overflow) {
  const auto session = start16();
  session->set_loss_scale({.scale = 256, .good_steps = 3});
  std::vector<float> weights = session->parameter(0);
  weights.assign(weights.size(), std::nanf(""));
  session->set_parameter(0, weights);
  train(*session, 5);
  session->wait();
  ASSERT_TRUE(session->divergence());
  EXPECT_EQ(session->divergence()->step, 5U);
  EXPECT_EQ(session->divergence()->layer, "dense1");
  EXPECT_EQ(session->loss_scale()->scale, 256U);
  EXPECT_EQ(session->loss_scale()->good_steps, 3U);
}

TEST_P(CudaLossScale, a_checkpoint_keeps_it_and_training_goes_on_in_the_same_bits) {
  const TempDirectory directory;
  const fs::path file = directory.path() / "scaled.safetensors";
  const auto first = start16();
  first->set_loss_scale({.scale = 1U << 20, .good_steps = 11});
  for (std::uint64_t step = 0; step < 3; ++step) train(*first, step);
  save_checkpoint(file, *first, {.network = "scaled"});
  const auto second = start16();
  load_checkpoint(file, *second);
  EXPECT_EQ(second->loss_scale()->scale, first->loss_scale()->scale);
  EXPECT_EQ(second->loss_scale()->good_steps, first->loss_scale()->good_steps);
  for (std::uint64_t step = 3; step < 8; ++step) {
    train(*first, step);
    train(*second, step);
  }
  EXPECT_EQ(parameters(*second), parameters(*first));
  // A session without a scale ignores the checkpoint's; a checkpoint without one leaves the
  // default.
  load_checkpoint(file, *start16("fp32"));
  save_checkpoint(file, *start16("bf16"), {.network = "scaled"});
  const auto third = start16();
  load_checkpoint(file, *third);
  EXPECT_EQ(third->loss_scale()->scale, 65536U);
}

}  // namespace
}  // namespace feedrate::testing
