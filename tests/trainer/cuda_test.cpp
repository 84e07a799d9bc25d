// The CUDA backend against the CPU's, twice: on a device, where there is one, and on the emulated
// one (tests/support/cuda_emulation), where the build has CUDA's headers.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "loader/random.h"
#include "tests/support/expect_error.h"
#include "tests/support/places.h"
#include "tests/trainer/op_cases.h"
#include "trainer/backend.h"
#include "trainer/backends/cuda.h"
#include "trainer/network.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;
using feedrate::testing::beside_this_program;
using feedrate::testing::expect_error;

/// A batch of random images that owns its memory.
class RandomBatch {
 public:
  RandomBatch(const Graph& graph, std::uint32_t count, std::uint64_t key)
      : pixels_(graph.input.bytes() * count), labels_(count) {
    for (std::size_t i = 0; i < pixels_.size(); ++i) {
      pixels_[i] = static_cast<std::uint8_t>(random_bits(key, i) >> 56);
    }
    for (std::size_t i = 0; i < count; ++i) {
      labels_[i] = static_cast<std::int32_t>(below(random_bits(~key, i), graph.classes));
    }
    batch_.number = key;
    batch_.count = count;
    batch_.shape = graph.input;
    batch_.pixels = pixels_;
    batch_.labels = labels_;
  }
  const Batch& batch() const { return batch_; }
  Batch& batch() { return batch_; }
  std::vector<std::int32_t>& labels() { return labels_; }
  /// What a loader does with a slot it got back.
  void spoil() {
    std::fill(pixels_.begin(), pixels_.end(), std::uint8_t{77});
    std::fill(labels_.begin(), labels_.end(), 0);
  }

 private:
  std::vector<std::uint8_t> pixels_;
  std::vector<std::int32_t> labels_;
  Batch batch_;
};

SessionOptions options(const Optimizer& rule = optimizer("sgd")) {
  SessionOptions o;
  o.optimizer = &rule;
  o.seed = 5;
  return o;
}

constexpr UpdateSettings settings{.rate = 0.02, .momentum = 0.9, .decay = 5e-4};

/// Difference of two tensors, in parts of the second's length.
double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0;
  double length = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - b[i], 2);
    length += std::pow(static_cast<double>(b[i]), 2);
  }
  return length == 0 ? std::sqrt(difference) : std::sqrt(difference / length);
}

constexpr double tolerance = 1e-4;

enum class Device { real, emulated };

class CudaParity : public ::testing::TestWithParam<Device> {
 protected:
  void SetUp() override {
    const bool emulated = GetParam() == Device::emulated;
    const fs::path file =
        beside_this_program(emulated ? "libfeedrate_cuda_emulated.so" : "libfeedrate_cuda.so");
    if (!fs::exists(file)) GTEST_SKIP() << "this build has no CUDA plug-in: " << file;
    const LoadedCudaPlugin loaded = load_cuda_plugin({file});
    if (loaded.plugin == nullptr) {
      // On a machine without CUDA's libraries the plug-in cannot be loaded: that is no fault.
      ASSERT_FALSE(emulated) << loaded.problem;
      GTEST_SKIP() << "no CUDA device here: " << loaded.problem;
    }
    cuda_ = loaded.plugin->backend;
    const std::string reason = cuda_->unavailable();
    if (!reason.empty()) GTEST_SKIP() << "no CUDA device here: " << reason;
  }
  void TearDown() override { unsetenv("FEEDRATE_EMULATED_REVERSE"); }

  /// The emulated device takes seconds where a real one takes milliseconds.
  std::uint32_t batch() const { return GetParam() == Device::emulated ? 5 : 64; }

  std::unique_ptr<Session> start(const Backend& on, const Graph& graph, std::uint32_t batch,
                                 const Optimizer& rule = optimizer("sgd")) const {
    auto session = on.compile(make_plan(graph, batch), options(rule));
    initialise(*session, 3);
    return session;
  }

  /// Trains on both, step by step, and compares all there is to see. The last batch is partial.
  void expect_parity(const Graph& graph, std::uint32_t batch, std::uint64_t steps,
                     const UpdateSettings& update = settings,
                     const Optimizer& rule = optimizer("sgd")) const {
    const auto cpu = start(backend("cpu"), graph, batch, rule);
    const auto gpu = start(*cuda_, graph, batch, rule);
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::uint32_t count = step + 1 == steps && batch > 1 ? batch - 1 : batch;
      RandomBatch images(graph, count, step + 1);
      for (Session* session : {cpu.get(), gpu.get()}) {
        session->upload(images.batch());
        session->train_step(update, step);
      }
      const Metrics expected = cpu->take_metrics();
      const Metrics found = gpu->take_metrics();
      EXPECT_EQ(found.images, count);
      EXPECT_EQ(found.correct, expected.correct) << "step " << step;
      EXPECT_EQ(found.correct5, expected.correct5) << "step " << step;
      EXPECT_NEAR(found.loss_sum, expected.loss_sum, tolerance * expected.loss_sum)
          << "step " << step;
      for (std::size_t p = 0; p < graph.parameters.size(); ++p) {
        const std::string where = join(graph.parameters[p].name, " at step ", step);
        EXPECT_LT(relative_difference(gpu->gradient(p), cpu->gradient(p)), tolerance) << where;
        for (std::size_t slot = 0; slot < rule.states(); ++slot) {
          EXPECT_LT(relative_difference(gpu->state(p, slot), cpu->state(p, slot)), tolerance)
              << where;
        }
        EXPECT_LT(relative_difference(gpu->parameter(p), cpu->parameter(p)), tolerance) << where;
      }
      if (HasFailure()) return;
    }
  }

  const Backend* cuda_ = nullptr;
};

void PrintTo(Device device, std::ostream* out) {
  *out << (device == Device::real ? "real" : "emulated");
}

std::string device_label(const ::testing::TestParamInfo<Device>& device) {
  return device.param == Device::real ? "real" : "emulated";
}

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

TEST_P(CudaParity, every_optimizer) {
  const Builder::Layer layer{
      .bias = {Init::Rule::constant, 0.5}, .bias_rate_scale = 2, .bias_decay_scale = 0};
  for (const Optimizer* rule : optimizers()) {
    SCOPED_TRACE(rule->name());
    Builder b("optimizers", {9, 9, 3}, 70);
    const auto x = b.relu(b.conv(b.input(1.0 / 255), 8, 3, 1, 0, layer));
    // The dense weights fill several chunks.
    expect_parity(b.softmax_loss(b.dense(x, 70, layer)), 6, 4,
                  {.rate = 0.01, .momentum = 0.8, .decay = 0.02, .epsilon = 1e-3, .trust = 0.05},
                  *rule);
  }
}

TEST_P(CudaParity, input_turns_colour_images_into_planes) {
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
    expect_parity(c.graph, 5, 2);
  }
}

TEST_P(CudaParity, smoothed_labels_and_top_5) {
  Builder b("smooth", {4, 4, 1}, 40);
  Graph graph = b.softmax_loss(b.dense(b.input(1.0 / 255), 40, {}));
  graph.nodes.back().attributes["smoothing"] = 0.3;
  expect_parity(graph, 6, 3);
}

TEST_P(CudaParity, features_as_far_as_a_node) {
  const Network& lenet = network("lenet");
  const Graph graph = lenet.build(lenet.published_input(), 10);
  const auto cpu = start(backend("cpu"), graph, 3);
  const auto gpu = start(*cuda_, graph, 3);
  const RandomBatch images(graph, 2, 1);
  std::vector<float> values[2];
  for (const std::size_t side : {0U, 1U}) {
    Session& session = side == 0 ? *cpu : *gpu;
    values[side].resize(2 * static_cast<std::size_t>(graph.nodes[4].extent.elements()));
    session.upload(images.batch());
    session.forward_to(4, values[side]);
  }
  EXPECT_LT(relative_difference(values[1], values[0]), tolerance);
}

TEST_P(CudaParity, a_loss_that_is_not_finite_is_found_with_its_step_and_layer) {
  Builder b("diverges", {5, 5, 1}, 3);
  const Graph graph = b.softmax_loss(b.dense(b.relu(b.conv(b.input(0.01), 2, 3, 1, 0, {})), 3, {}));
  for (const bool broken : {false, true}) {
    const auto gpu = start(*cuda_, graph, 4);
    std::uint64_t step = 10;
    std::vector<float> before;
    for (; step < 16 && !gpu->divergence(); ++step) {
      if (step == 12) {
        gpu->wait();
        std::vector<float> weights = gpu->parameter(2);
        // Infinite products of finite weights, or a weight that is none.
        weights.assign(weights.size(), broken ? std::nanf("") : 3e38F);
        gpu->set_parameter(2, weights);
        before = gpu->parameter(0);
      }
      gpu->upload(RandomBatch(graph, 4, step).batch());
      if (!gpu->divergence()) gpu->train_step(settings, step);
    }
    gpu->wait();
    ASSERT_TRUE(gpu->divergence());
    EXPECT_EQ(gpu->divergence()->step, 12U);
    EXPECT_EQ(gpu->divergence()->layer, "dense1");
    EXPECT_EQ(gpu->divergence()->parameter, broken ? "dense1.weight" : "");
    EXPECT_LE(step, 15U);
    EXPECT_EQ(gpu->parameter(0), before) << "nothing is learnt from it";
  }
}

TEST_P(CudaParity, a_batch_of_one) {
  Builder b("one", {5, 5, 1}, 3);
  expect_parity(b.softmax_loss(b.dense(b.relu(b.conv(b.input(0.01), 2, 3, 1, 0, {})), 3, {})), 1,
                3);
}

TEST_P(CudaParity, evaluation_changes_nothing_and_drops_nothing) {
  Builder b("evaluation", {6, 6, 1}, 4);
  const Graph graph =
      b.softmax_loss(b.dense(b.dropout(b.conv(b.input(0.01), 3, 3, 1, 0, {}), 0.5), 4, {}));
  const auto cpu = start(backend("cpu"), graph, 6);
  const auto gpu = start(*cuda_, graph, 6);
  const std::vector<float> before = gpu->parameter(0);
  for (const std::uint32_t count : {6U, 2U}) {
    const RandomBatch images(graph, count, count);
    for (Session* session : {cpu.get(), gpu.get()}) {
      session->upload(images.batch());
      session->evaluate_step();
    }
  }
  const Metrics expected = cpu->take_metrics();
  const Metrics found = gpu->take_metrics();
  EXPECT_EQ(found.images, 8U);
  EXPECT_EQ(found.correct, expected.correct);
  EXPECT_NEAR(found.loss_sum, expected.loss_sum, tolerance * expected.loss_sum);
  EXPECT_EQ(gpu->parameter(0), before);
  EXPECT_EQ(gpu->take_metrics().images, 0U) << "taking clears";
}

TEST_P(CudaParity, the_same_calls_give_the_same_bits_whichever_thread_is_first) {
  const Network& lenet = network("lenet");
  const Graph graph = lenet.build(lenet.published_input(), 10);
  std::vector<std::vector<float>> runs[2];
  double losses[2] = {};
  for (const std::size_t run : {0U, 1U}) {
    if (run == 1) setenv("FEEDRATE_EMULATED_REVERSE", "1", 1);
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
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_EQ(losses[0], losses[1]);
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
  expect_error([&] { session->evaluate_step(); }, {"nothing was uploaded"});
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
}  // namespace feedrate
