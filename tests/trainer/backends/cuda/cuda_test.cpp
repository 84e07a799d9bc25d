// The CUDA backend against the CPU backend, twice: on a real device, if there is one, and on the
// emulated device (tests/support/cuda_emulation), if the build has CUDA's headers.

#include "tests/trainer/cuda_parity.h"

namespace feedrate::testing {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

INSTANTIATE_TEST_SUITE_P(Cuda, CudaParity, ::testing::Values(Device::real), device_label);
INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaParity, ::testing::Values(Device::emulated),
                         device_label);

TEST_P(CudaParity, lenet_follows_the_cpu_for_ten_steps) {
  const Network& lenet = network("lenet");
  expect_parity(lenet.build(lenet.published_input(), 10), batch(), 10);
}

TEST_P(CudaParity, mlp_follows_the_cpu_for_ten_steps_and_drops_the_same_values) {
  const Network& mlp = network("mlp");
  expect_parity(mlp.build(mlp.published_input(), 10), batch(), 10);
}

TEST_P(CudaParity, dense_alone) {
  Builder b("dense", {3, 5, 1}, 7);
  expect_parity(b.softmax_loss(b.dense(b.input(1.0 / 255), 7, {})), 6, 3);
}

TEST_P(CudaParity, each_parameter_has_its_own_rate_and_decay) {
  const Builder::Layer layer{
      .bias = {Init::Rule::constant, 0.5}, .bias_rate_scale = 3, .bias_decay_scale = 0};
  Builder b("scales", {3, 5, 1}, 7);
  expect_parity(b.softmax_loss(b.dense(b.input(1.0 / 255), 7, layer)), 6, 3,
                {.rate = 0.05, .momentum = 0.5, .decay = 0.3});
}

TEST_P(CudaParity, input_scales_colour_images) {
  Builder b("input", {4, 5, 3}, 6);
  expect_parity(b.softmax_loss(b.dense(b.input(1.0 / 64, 127.5), 6, {})), 6, 3);
}

TEST_P(CudaParity, conv_with_stride_and_pad) {
  Builder b("conv", {9, 8, 3}, 5);
  auto x = b.conv(b.input(1.0 / 255), 6, 3, 2, 1, {});
  x = b.conv(x, 4, 2, 1, 0, {});
  expect_parity(b.softmax_loss(b.dense(x, 5, {})), 6, 3);
}

TEST_P(CudaParity, max_pool_with_overlap_and_pad) {
  Builder b("pool", {11, 9, 3}, 5);
  auto x = b.max_pool(b.conv(b.input(1.0 / 255), 4, 3, 1, 1, {}), 3, 2, 1);
  expect_parity(b.softmax_loss(b.dense(x, 5, {})), 6, 3);
}

TEST_P(CudaParity, max_pool_with_a_partial_last_window) {
  Builder b("ceil", {9, 9, 1}, 5);
  auto x = b.conv(b.input(1.0 / 255), 3, 2, 1, 0, {});
  x = b.add("max_pool", {x}, {{"kernel", 3}, {"stride", 2}, {"ceil", 1}}, {});
  expect_parity(b.softmax_loss(b.dense(x, 5, {})), 6, 3);
}

TEST_P(CudaParity, relu_and_dropout_in_place_and_not) {
  Builder b("relu", {6, 6, 1}, 5);
  auto x = b.dropout(b.relu(b.input(1.0 / 64, 127)), 0.3);
  x = b.relu(b.dropout(b.conv(x, 5, 3, 1, 0, {}), 0.5));
  expect_parity(b.softmax_loss(b.dense(x, 5, {})), 6, 3);
}

TEST_P(CudaParity, softmax_over_more_classes_than_a_warp_has_lanes) {
  Builder b("classes", {4, 4, 1}, 1001);
  expect_parity(b.softmax_loss(b.dense(b.input(1.0 / 255), 1001, {})), 6, 3);
}

TEST_P(CudaParity, every_operator_in_every_shape) {
  for (const feedrate::testing::OpCase& c : feedrate::testing::op_cases()) {
    SCOPED_TRACE(join(c.op, " ", c.what));
    expect_parity(c.graph, 5, 3);
  }
}

TEST_P(CudaParity, a_batch_of_one) {
  Builder b("one", {5, 5, 1}, 3);
  expect_parity(b.softmax_loss(b.dense(b.relu(b.conv(b.input(0.01), 2, 3, 1, 0, {})), 3, {})), 1,
                3);
}

TEST_P(CudaParity, the_same_calls_give_the_same_bits_whichever_block_is_first) {
  const Network& lenet = network("lenet");
  const Graph graph = lenet.build(lenet.published_input(), 10);
  std::vector<std::vector<float>> runs[3];
  double losses[3] = {};
  for (const std::size_t run : {0U, 1U, 2U}) {
    setenv("FEEDRATE_EMULATED_ORDER", orders[run], 1);
    const auto session = start(*cuda_, graph, batch());
    for (std::uint64_t step = 0; step < 3; ++step) {
      session->upload(RandomBatch(graph, batch(), step).batch());
      session->train_step(settings, step);
    }
    losses[run] = session->take_metrics().loss_sum;
    for (std::size_t p = 0; p < graph.parameters.size(); ++p) {
      runs[run].push_back(session->parameter(p));
    }
  }
  for (const std::size_t run : {1U, 2U}) {
    EXPECT_EQ(runs[0], runs[run]) << orders[run];
    EXPECT_EQ(losses[0], losses[run]) << orders[run];
  }
}

TEST_P(CudaParity, a_batch_may_be_spoiled_once_upload_has_returned) {
  const Network& mlp = network("mlp");
  const Graph graph = mlp.build(mlp.published_input(), 10);
  std::vector<float> results[2];
  for (const bool hurry : {false, true}) {
    const auto session = start(*cuda_, graph, 4);
    for (std::uint64_t step = 0; step < 5; ++step) {
      RandomBatch images(graph, 4, step);
      session->upload(images.batch());
      images.spoil();
      session->train_step(settings, step);
      if (!hurry) session->wait();
    }
    results[hurry ? 1 : 0] = session->parameter(0);
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_P(CudaParity, parameters_and_state_survive_a_move_to_another_session) {
  Builder b("resume", {6, 6, 1}, 4);
  const Graph graph = b.softmax_loss(b.dense(b.conv(b.input(0.01), 3, 3, 1, 0, {}), 4, {}));
  const auto train = [&](Session& session, std::uint64_t step) {
    session.upload(RandomBatch(graph, 6, step).batch());
    session.train_step(settings, step);
  };
  const auto first = start(*cuda_, graph, 6);
  train(*first, 0);
  const auto second = cuda_->compile(make_plan(graph, 6), options());
  for (std::size_t p = 0; p < graph.parameters.size(); ++p) {
    second->set_parameter(p, first->parameter(p));
    second->set_state(p, 0, first->state(p, 0));
  }
  train(*first, 1);
  train(*second, 1);
  for (std::size_t p = 0; p < graph.parameters.size(); ++p) {
    EXPECT_EQ(second->parameter(p), first->parameter(p));
    EXPECT_EQ(second->state(p, 0), first->state(p, 0));
  }
  EXPECT_GE(first->planned_bytes(), 3 * sizeof(float) * graph.parameters[0].shape[0]);
}

TEST_P(CudaParity, slots_get_pinned_memory) {
  PixelMemory& memory = cuda_->pixel_memory();
  std::byte* slot = memory.allocate(1000);
  ASSERT_NE(slot, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(slot) % 64, 0U);
  std::fill(slot, slot + 1000, std::byte{7});
  memory.release(slot, 1000);
}

TEST_P(CudaParity, what_does_not_fit_the_network_is_refused) {
  Builder b("refusal", {4, 4, 1}, 3);
  const Graph graph = b.softmax_loss(b.dense(b.input(1), 3, {}));
  const auto session = start(*cuda_, graph, 2);
  expect_error([&] { session->evaluate_step(); }, {"none was uploaded"});
  expect_error([&] { session->upload(RandomBatch(graph, 3, 1).batch()); }, {"3 images", "1 to 2"});
  RandomBatch wrong_label(graph, 2, 1);
  wrong_label.labels()[1] = 3;
  expect_error([&] { session->upload(wrong_label.batch()); }, {"image 1", "label 3", "3 classes"});
  RandomBatch wrong_shape(graph, 2, 1);
  wrong_shape.batch().shape = {2, 8, 1};
  expect_error([&] { session->upload(wrong_shape.batch()); }, {"2x8x1", "4x4x1"});
  expect_error([&] { session->set_parameter(0, {}); }, {"48 values, not 0"});
  expect_error([&] { static_cast<void>(session->state(0, 1)); }, {"no state 1"});
}

TEST_P(CudaParity, more_than_the_device_holds_is_refused_with_both_figures) {
  Builder b("huge", {1024, 1024, 1}, 3);
  const Graph graph = b.softmax_loss(b.dense(b.relu(b.input(1)), 3, {}));
  expect_error([&] { cuda_->compile(make_plan(graph, 1U << 20), options()); },
               {"the GPU has", "MiB free", "smaller batch"});
}

}  // namespace
}  // namespace feedrate::testing
