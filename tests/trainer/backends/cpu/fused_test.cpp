// Fused passes on the CPU give the bits of single ones: the last norm of a residual block computes
// the block's end, gradients are read where they lie, and parameters are updated behind each bucket
// of gradients.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include "formats/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/trainer/batches.h"
#include "tests/trainer/blocks.h"
#include "trainer/backends/backend.h"
#include "trainer/backends/cpu/products/product_table.h"
#include "trainer/graph/op.h"
#include "trainer/networks/network.h"

namespace feedrate::trainer {
using namespace formats;

namespace {

using testing::blocks;
using testing::RandomSource;
using Values = std::vector<std::vector<float>>;

constexpr std::uint32_t batch = 4;
constexpr UpdateSettings settings{.rate = 0.02, .momentum = 0.9, .decay = 5e-4};

RandomSource source_for(const Graph& graph) {
  return RandomSource(
      {.shape = graph.input, .classes = graph.classes, .batch = batch, .images = 7, .epochs = 2});
}

class Fused : public ::testing::Test {
 protected:
  void TearDown() override { unsetenv("FEEDRATE_UNFUSED"); }

  static std::unique_ptr<Session> start(const Graph& graph, const char* unfused,
                                        const SessionOptions& options) {
    setenv("FEEDRATE_UNFUSED", unfused, 1);
    auto session = backend("cpu").compile(make_plan(graph, batch), options);
    initialise(*session, 3);
    return session;
  }

  /// All that three steps change, and their losses; the second step is on 3 images.
  static Values train(Session& session) {
    const Graph& graph = session.plan().graph;
    RandomSource source = source_for(graph);
    Values seen;
    for (std::uint64_t step = 0; step < 3; ++step) {
      session.upload(*source.next());
      session.train_step(settings, step);
      seen.push_back({static_cast<float>(session.take_metrics().loss_sum)});
      EXPECT_TRUE(std::isfinite(seen.back()[0])) << graph.network;
    }
    for (std::size_t p = 0; p < graph.parameters.size(); ++p) {
      seen.push_back(session.parameter(p));
    }
    return seen;
  }
  static Values train(const Graph& graph, const char* unfused, const SessionOptions& options) {
    return train(*start(graph, unfused, options));
  }

  static bool has_bf16() {
    try {
      backend("cpu").compile(make_plan(blocks(3), 1), {.precision = "bf16"});
      return true;
    } catch (const Error&) {
      return false;  // not every processor supports it
    }
  }
};
using UnitFusedCpu = Fused;
using ConformanceFusedCpu = Fused;

// Layers of oneDNN and of matrix products; norms whose threads share blocks and images.
TEST_F(ConformanceFusedCpu, fused_and_unfused_steps_give_the_same_bits_in_fp32) {
  for (const std::int64_t width : {3, 16}) {
    const Graph graph = blocks(width);
    for (const unsigned threads : {1U, 2U, 3U}) {
      const SessionOptions options{.threads = threads, .optimizer = &optimizer("sgd")};
      const Values expected = train(graph, "all", options);
      for (const char* unfused : {"", "norm-sum", "sum-gradient"}) {
        EXPECT_EQ(train(graph, unfused, options), expected)
            << width << " channels, " << threads << " threads, unfused: " << unfused;
      }
    }
  }
}

SessionOptions in_bf16(unsigned threads) {
  return {.precision = "bf16",
          .bf16_everywhere = true,
          .threads = threads,
          .optimizer = &optimizer("sgd")};
}

TEST_F(ConformanceFusedCpu, gradients_fused_alone_give_the_same_bits_in_bf16) {
  if (!has_bf16()) GTEST_SKIP() << "this processor has no bf16";
  for (const std::int64_t width : {3, 16}) {
    const Graph graph = blocks(width);
    for (const unsigned threads : {1U, 3U}) {
      EXPECT_EQ(train(graph, "norm-sum", in_bf16(threads)), train(graph, "all", in_bf16(threads)))
          << width << " channels, " << threads << " threads";
    }
  }
}

// A norm's output is rounded to bf16 before it is added, but not where the norm adds it. One block
// on many pixels: where few values are normalised, as above, a rounding grows without bounds.
TEST_F(ConformanceFusedCpu, in_bf16_a_rounding_between_norm_and_sum_is_left_out) {
  if (!has_bf16()) GTEST_SKIP() << "this processor has no bf16";
  Builder b("block", {16, 16, 3}, 5);
  const auto x = b.relu(b.batch_norm(b.conv(b.input(1.0 / 64, 120), 16, 3, 1, 1, {}), {}));
  const auto branch = b.batch_norm(b.conv(x, 16, 3, 1, 1, {}), {});
  const auto pooled = b.global_avg_pool(b.relu(b.sum(branch, x)));
  const Graph graph = b.softmax_loss(b.dense(pooled, 5, {}));
  const Values fused = train(graph, "", in_bf16(2)), plain = train(graph, "all", in_bf16(2));
  EXPECT_NE(fused, plain) << "is anything fused?";
  for (std::size_t step = 0; step < 3; ++step) {
    EXPECT_NEAR(fused[step][0], plain[step][0], 1e-3F * plain[step][0]) << step;
  }
}

TEST_F(UnitFusedCpu, the_last_norm_of_a_block_does_the_work_of_the_sum) {
  const Graph graph = blocks(16);
  const auto sums_that_ran = [&](const char* unfused) {
    std::vector<NodeSeconds> seconds;
    train(graph, unfused, {.threads = 1, .optimizer = &optimizer("sgd"), .node_seconds = &seconds});
    std::pair<int, int> ran{};
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (!graph.nodes[i].op->traits().is_residual_sum) continue;
      ran.first += seconds[i].forward > 0;
      ran.second += seconds[i].backward > 0;
    }
    return ran;
  };
  // The two at the end have no relu. The order of the arguments of one sum is the compiler's.
  EXPECT_EQ(sums_that_ran("all"), std::pair(10, 10));
  EXPECT_LE(sums_that_ran("").first, 3);
  EXPECT_LE(sums_that_ran("").second, 3);
  EXPECT_EQ(sums_that_ran("norm-sum").first, 10);
  EXPECT_EQ(sums_that_ran("sum-gradient").second, 10);
}

TEST_F(UnitFusedCpu, every_node_still_puts_out_its_own_values) {
  const Graph graph = blocks(16);
  RandomSource source = source_for(graph);
  const loader::Batch& images = *source.next();
  const SessionOptions options{.threads = 2, .optimizer = &optimizer("sgd")};
  const auto fused = start(graph, "", options), plain = start(graph, "all", options);
  for (Session* session : {fused.get(), plain.get()}) {
    session->upload(images);
    session->train_step(settings, 0);
  }
  for (std::size_t node = 0; node + 1 < graph.nodes.size(); ++node) {
    std::vector<float> found(batch * static_cast<std::size_t>(graph.nodes[node].extent.elements()));
    std::vector<float> expected = found;
    fused->forward_to(node, found);
    plain->forward_to(node, expected);
    EXPECT_EQ(found, expected) << graph.nodes[node].name;
  }
}

TEST_F(UnitFusedCpu, what_is_no_number_passes_the_end_of_a_block) {
  const Graph graph = blocks(16);
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    const Node& norm = graph.nodes[node];
    if (!norm.op->traits().scales_channels) continue;
    const auto session = start(graph, "", {.threads = 2, .optimizer = &optimizer("sgd")});
    std::vector<float> bias = session->parameter(norm.parameters[1]);
    bias[1] = std::numeric_limits<float>::quiet_NaN();
    session->set_parameter(norm.parameters[1], bias);
    RandomSource source = source_for(graph);
    session->upload(*source.next());
    session->train_step(settings, 0);
    ASSERT_TRUE(session->divergence()) << norm.name;
    EXPECT_EQ(session->divergence()->layer, norm.name);
    EXPECT_EQ(session->divergence()->parameter, graph.parameters[norm.parameters[1]].name);
  }
}

// Several buckets, layers whose weights are padded, and an optimizer that needs norms.
TEST_F(UnitFusedCpu, updates_behind_each_bucket_give_the_bits_of_one_update_at_the_end) {
  for (const char* name : {"lenet", "resnet50:cifar", "googlenet:cifar"}) {
    const Network& row = network(name);
    const Graph graph = row.build(row.published_input(), row.published_classes());
    for (const char* rule : {"sgd", "lars"}) {
      SessionOptions options{.threads = 2, .optimizer = &optimizer(rule)};
      const auto bucketed = start(graph, "", options);
      options.keep_gradients = true;
      const auto kept = start(graph, "", options);
      EXPECT_LT(bucketed->planned_bytes(), kept->planned_bytes()) << name;
      EXPECT_EQ(train(*bucketed), train(*kept)) << name << ", " << rule;
    }
  }
}

TEST_F(UnitFusedCpu, gradients_that_were_not_kept_cannot_be_asked_for) {
  const auto session = start(blocks(3), "", {.threads = 1, .optimizer = &optimizer("sgd")});
  testing::expect_error([&] { session->gradient(0); }, {"gradients are kept only"});
}

// The program itself takes some 54 MiB in both precisions, so 0.65 of the resident memory.
TEST_F(UnitFusedCpu, resnet50_in_bf16_plans_63_hundredths_of_its_memory_in_fp32_and_65_with_amx) {
  if (!has_bf16()) GTEST_SKIP() << "this processor has no bf16";
  const Network& row = network("resnet50");
  const auto bytes = [&](const std::string& precision) {
    Graph graph = row.build(row.published_input(), row.published_classes());
    return static_cast<double>(
        backend("cpu")
            .compile(make_plan(std::move(graph), 8),
                     {.precision = precision, .threads = 2, .optimizer = &optimizer("sgd")})
            ->planned_bytes());
  };
  const double fp32 = bytes("fp32");
  // oneDNN's kernels of AMX take a copy of a layer's input besides.
  EXPECT_LE(bytes("bf16"), (cpu::processor_kind() == "amx" ? 0.65 : 0.63) * fp32);
  // oneDNN 3 needs some 20 MiB more for itself than 2.6.
  EXPECT_LE(fp32, 900 * 1048576.0) << "two copies of the parameters, and the values";
}

}  // namespace
}  // namespace feedrate::trainer
