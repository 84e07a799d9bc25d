// The CUDA backend in less than fp32 beside the CPU's fp32: results stay near, also with fp16's
// loss scale.

#include <algorithm>
#include <bit>

#include "tests/trainer/cuda_parity.h"

namespace feedrate::testing {
using namespace formats;
using namespace trainer;

namespace {

constexpr double near = 2e-2;

class CudaPrecision : public CudaParity {
 protected:
  std::unique_ptr<Session> start16(const Graph& graph, std::uint32_t batch,
                                   const std::string& precision,
                                   const Optimizer& rule = optimizer("sgd")) const {
    return start(*cuda_, graph, batch, rule, precision);
  }

  static void train(Session& session, const Graph& graph, std::uint32_t count, std::uint64_t step,
                    const UpdateSettings& update = settings) {
    session.upload(RandomBatch(graph, count, step).batch());
    session.train_step(update, step);
  }

  /// Two blocks, one with a projection: sums, norms followed by relus, convolutions with and
  /// without bias.
  static Graph residual() {
    Builder b("residual", {8, 8, 3}, 5);
    auto x = b.relu(b.conv(b.input(1.0 / 64, 127), 8, 3, 1, 1, {}));
    for (const int stride : {1, 2}) {
      auto y = b.relu(b.batch_norm(b.conv(x, 8 * stride, 3, stride, 1, {.no_bias = true}), {}));
      y = b.batch_norm(b.conv(y, 8 * stride, 3, 1, 1, {.no_bias = true}), {});
      if (stride == 2) x = b.batch_norm(b.conv(x, 16, 1, 2, 0, {.no_bias = true}), {});
      x = b.relu(b.sum(y, x));
    }
    return b.softmax_loss(b.dense(b.relu(b.dense(b.global_avg_pool(x), 12, {})), 5, {}));
  }

  static bool has_kinks(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const Node& node) {
      return node.op->traits().is_relu || node.op->traits().pooling == Pooling::maximum;
    });
  }

  struct Distance {
    double loss = 0;
    double gradient = 0;  // the largest over all parameters
    double weight = 0;    // the largest over matrices: biases start at 0 and stay small
  };
  /// How far training in 16 bits is from training in fp32 on the CPU; the last batch is partial.
  Distance distance(const Graph& graph, std::uint32_t batch, std::uint64_t steps,
                    const std::string& precision, const UpdateSettings& update = settings) const {
    const auto cpu = start(backend("cpu"), graph, batch);
    const auto gpu = start16(graph, batch, precision);
    gpu->set_loss_scale({.scale = 256});  // small enough that no step is skipped
    Distance max;
    for (std::uint64_t step = 0; step < steps; ++step) {
      const RandomBatch images(graph, step + 1 == steps ? batch - 1 : batch, step + 1);
      for (Session* session : {cpu.get(), gpu.get()}) {
        session->upload(images.batch());
        session->train_step(update, step);
      }
      const Metrics expected = cpu->take_metrics();
      const Metrics found = gpu->take_metrics();
      EXPECT_EQ(found.images, expected.images);
      max.loss = std::max(max.loss, std::abs(found.loss_sum / expected.loss_sum - 1));
      for (std::size_t p = 0; p < graph.parameters.size(); ++p) {
        if (!graph.parameters[p].learned) continue;
        const double gradient = relative_difference(gpu->gradient(p), cpu->gradient(p));
        EXPECT_TRUE(std::isfinite(gradient)) << graph.parameters[p].name;
        max.gradient = std::max(max.gradient, gradient);
        if (graph.parameters[p].shape.size() < 2) continue;
        max.weight =
            std::max(max.weight, relative_difference(gpu->parameter(p), cpu->parameter(p)));
      }
    }
    EXPECT_EQ(gpu->loss_scale().value_or(LossScale{0, steps}).good_steps, steps);
    return max;
  }
};

INSTANTIATE_TEST_SUITE_P(Cuda, CudaPrecision, ::testing::Values(Device::real), device_label);
INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaPrecision, ::testing::Values(Device::emulated),
                         device_label);

// The loss is near in every case. Gradients are near if the network has no relu or max_pool: a
// value that rounding moves across zero, or past its neighbour, changes by its whole gradient. A
// wrong place in memory would make a far larger difference.
TEST_P(CudaPrecision, every_operator_in_every_shape_stays_near_fp32) {
  for (const std::string precision : {"bf16", "fp16"}) {
    for (const OpCase& c : op_cases()) {
      SCOPED_TRACE(join(precision, ": ", c.op, " ", c.what));
      const Distance found = distance(c.graph, 5, 2, precision);
      EXPECT_LT(found.loss, near);
      EXPECT_LT(found.gradient, has_kinks(c.graph) ? 0.25 : near);
    }
  }
}

TEST_P(CudaPrecision, networks_follow_fp32) {
  for (const std::string precision : {"bf16", "fp16"}) {
    for (const char* name : {"lenet", "alexnet:cifar"}) {
      SCOPED_TRACE(join(precision, ": ", name));
      const Network& row = network(name);
      const Distance found = distance(row.build(row.published_input(), 10), batch(), 3, precision,
                                      {.rate = 0.002, .momentum = 0.9});
      EXPECT_LT(found.loss, near);
      EXPECT_LT(found.weight, near);
    }
  }
}

TEST_P(CudaPrecision, residual_blocks_with_norms_follow_fp32_for_five_steps) {
  for (const std::string precision : {"tf32", "bf16", "fp16"}) {
    const Distance found = distance(residual(), 8, 5, precision, {.rate = 0.01, .momentum = 0.9});
    EXPECT_LT(found.loss, near) << precision;
    EXPECT_LT(found.weight, near) << precision;
  }
}

TEST_P(CudaPrecision, the_same_calls_give_the_same_bits_whichever_block_is_first) {
  for (const std::string precision : {"bf16", "fp16"}) {
    const Graph graph = residual();
    std::vector<std::vector<float>> runs[3];
    for (const std::size_t run : {0U, 1U, 2U}) {
      setenv("FEEDRATE_EMULATED_ORDER", orders[run], 1);
      const auto session = start16(graph, 6, precision);
      for (std::uint64_t step = 0; step < 3; ++step) train(*session, graph, 6, step);
      for (std::size_t p = 0; p < graph.parameters.size(); ++p) {
        runs[run].push_back(session->parameter(p));
      }
    }
    for (const std::size_t run : {1U, 2U})
      EXPECT_EQ(runs[0], runs[run]) << precision << orders[run];
  }
}

TEST_P(CudaPrecision, parameters_come_back_as_they_were_set) {
  Builder b("moved", {6, 5, 3}, 4);
  const Graph graph = b.softmax_loss(b.dense(b.conv(b.input(0.01), 8, 3, 1, 1, {}), 4, {}));
  const auto session = start16(graph, 3, "bf16");
  for (std::size_t p = 0; p < graph.parameters.size(); ++p) {
    std::vector<float> values = session->parameter(p);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = 1.0F + static_cast<float>(i) * 1e-6F;  // finer than bf16 resolves
    }
    session->set_parameter(p, values);
    EXPECT_EQ(session->parameter(p), values);
  }
}

// cuBLASLt of a real device may choose another algorithm for another precision.
class CudaPrecisionEmulated : public CudaPrecision {};
INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaPrecisionEmulated,
                         ::testing::Values(Device::emulated), device_label);

// These pixels are exact in 16 bits, so only the output of an LSTM that computes in fp32 is
// rounded.
TEST_P(CudaPrecisionEmulated, an_lstm_in_16_bits_is_that_of_fp32_with_its_output_rounded) {
  Builder b("lstm", {8, 8, 1}, 5);
  const auto x = b.lstm(b.input(1.0 / 128, 128), 16, {});
  const Graph graph = b.softmax_loss(b.dense(x, 5, {}));
  const RandomBatch images(graph, 4, 3);
  const auto output = [&](const std::string& precision) {
    const auto session = start16(graph, 4, precision);
    session->upload(images.batch());
    std::vector<float> values(4 * 16);
    session->forward_to(x, values);
    return values;
  };
  std::vector<float> rounded = output("fp32");
  for (float& value : rounded) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    value = std::bit_cast<float>((bits + 0x7fffU + (bits >> 16 & 1U)) & 0xffff0000U);
  }
  EXPECT_EQ(output("bf16"), rounded);
}

TEST_P(CudaPrecision, features_and_evaluation_are_those_of_fp32) {
  const Graph graph = residual();
  const auto cpu = start(backend("cpu"), graph, 6);
  for (const std::string precision : {"bf16", "fp16"}) {
    const auto gpu = start16(graph, 6, precision);
    const RandomBatch images(graph, 4, 3);
    for (Session* session : {cpu.get(), gpu.get()}) {
      session->upload(images.batch());
      session->evaluate_step();
    }
    const Metrics expected = cpu->take_metrics(), found = gpu->take_metrics();
    EXPECT_EQ(found.images, 4U);
    EXPECT_NEAR(found.loss_sum, expected.loss_sum, near * expected.loss_sum) << precision;
    // All nodes: padded pixels, relus computed by the node before, and the loss.
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
      std::vector<float> values[2];
      for (const std::size_t side : {0U, 1U}) {
        values[side].resize(4 * static_cast<std::size_t>(graph.nodes[node].extent.elements()));
        (side == 0 ? *cpu : *gpu).forward_to(node, values[side]);
      }
      EXPECT_LT(relative_difference(values[1], values[0]), near)
          << precision << ", " << graph.nodes[node].name;
    }
    cpu->take_metrics();
  }
}

TEST_P(CudaPrecision, every_optimizer_learns_from_rounded_weights) {
  Builder b("optimizers", {7, 7, 3}, 10);
  const Graph graph = b.softmax_loss(b.dense(b.conv(b.input(1.0 / 255), 8, 3, 1, 0, {}), 10, {}));
  const UpdateSettings update{.rate = 0.002, .momentum = 0.8, .epsilon = 1e-3, .trust = 0.05};
  for (const Optimizer* rule : optimizers()) {
    const auto cpu = start(backend("cpu"), graph, 6, *rule);
    const auto gpu = start16(graph, 6, "bf16", *rule);
    for (std::uint64_t step = 0; step < 4; ++step) {
      train(*cpu, graph, 6, step, update);
      train(*gpu, graph, 6, step, update);
    }
    for (std::size_t p = 0; p < graph.parameters.size(); ++p) {
      // After a few steps biases are hardly larger than the rounding error.
      if (graph.parameters[p].shape.size() < 2) continue;
      EXPECT_LT(relative_difference(gpu->parameter(p), cpu->parameter(p)), near)
          << rule->name() << ", " << graph.parameters[p].name;
    }
  }
}

}  // namespace
}  // namespace feedrate::testing
