#include <gtest/gtest.h>

#include <algorithm>

#include "formats/base/error.h"
#include "tests/support/temp_directory.h"
#include "tests/trainer/batches.h"
#include "tests/trainer/blocks.h"
#include "tests/trainer/rounding.h"
#include "trainer/loop/checkpoint.h"
#include "trainer/loop/trainer.h"
#include "trainer/networks/network.h"

namespace feedrate::trainer {
namespace {

using testing::RandomSource;

std::unique_ptr<Session> session_of(const Graph& graph, unsigned threads,
                                    const std::string& precision = "fp32") {
  auto session = backend("cpu").compile(make_plan(graph, 32), {.precision = precision,
                                                               .bf16_everywhere = true,
                                                               .threads = threads,
                                                               .optimizer = &optimizer("sgd")});
  initialise(*session, 4);
  return session;
}

// A network with oneDNN's convolutions and dropout.
Graph blocked_network() {
  Builder b("blocked", {28, 28, 1}, 10);
  auto x = b.relu(b.conv(b.input(1.0 / 256), 16, 3, 2, 1, {}));
  x = b.dropout(b.relu(b.conv(x, 32, 3, 1, 1, {})), 0.2);
  x = b.max_pool(b.relu(b.conv(x, 32, 3, 1, 1, {})), 2, 2);
  return b.softmax_loss(b.dense(x, 10, {}));
}

// A network with branches, norms and running statistics.
Graph residual_network() {
  Builder b("residual", {28, 28, 1}, 10);
  auto x = b.relu(b.batch_norm(b.conv(b.input(1.0 / 256), 16, 3, 2, 1, {.no_bias = true}), {}));
  const auto y = b.batch_norm(b.conv(x, 32, 3, 2, 1, {.no_bias = true}), {});
  x = b.relu(b.sum(y, b.shortcut(x, 32, 2)));
  return b.softmax_loss(b.dense(b.global_avg_pool(x), 10, {}));
}

std::vector<Graph> graphs() {
  return {network("lenet").build({28, 28, 1}, 10), network("mlp").build({28, 28, 1}, 10),
          blocked_network(), residual_network(), testing::blocks(16, {28, 28, 1}, 10)};
}

constexpr RandomSource::Options data{.batch = 32, .images = 300, .epochs = 2};

struct Course {
  std::vector<double> losses;
  std::vector<std::vector<float>> parameters;
  bool operator==(const Course&) const = default;
};

// Trains from step `first` on and returns every loss and the final parameters.
Course course(Session& session, std::uint64_t first, std::uint64_t steps) {
  RandomSource source(data);
  source.skip(first);
  Course result;
  const TrainResult trained =
      train(session, source,
            {.schedule = {.policy = "inv", .rate = 0.01, .gamma = 1e-2, .power = 0.75},
             .update = {.decay = 5e-4},
             .steps = steps,
             .first_step = first,
             .report_every = 1});
  for (const auto& progress : trained.curve) result.losses.push_back(progress.loss);
  for (std::size_t i = 0; i < session.plan().graph.parameters.size(); ++i) {
    result.parameters.push_back(session.parameter(i));
  }
  return result;
}

void expect_the_same_bits(const std::string& precision) {
  for (const Graph& graph : graphs()) {
    for (const unsigned threads : {1U, 2U, 3U}) {
      const Course once = course(*session_of(graph, threads, precision), 0, 12);
      const Course again = course(*session_of(graph, threads, precision), 0, 12);
      EXPECT_TRUE(once == again) << graph.network << " with " << threads << " threads";
      EXPECT_NE(once.losses.front(), once.losses.back());
    }
  }
}

TEST(ConformanceDeterminism, the_same_calls_give_the_same_bits) { expect_the_same_bits("fp32"); }

TEST(ConformanceDeterminism, the_same_calls_give_the_same_bits_in_bf16) {
  try {
    session_of(residual_network(), 1, "bf16");
  } catch (const formats::Error& problem) {
    GTEST_SKIP() << problem.what();  // not every processor supports it
  }
  expect_the_same_bits("bf16");
}

TEST(ConformanceDeterminism, resumed_from_a_checkpoint_it_ends_in_the_same_bits) {
  const testing::TempDirectory directory;
  for (const Graph& graph : graphs()) {
    const Course whole = course(*session_of(graph, 2), 0, 14);
    const auto first = session_of(graph, 2);
    course(*first, 0, 6);
    save_checkpoint(directory / "half", *first, {.network = graph.network, .seed = 4, .step = 6});

    const auto second = session_of(graph, 2);
    const Position position = load_checkpoint(directory / "half", *second);
    const Course rest = course(*second, position.step, 8);
    EXPECT_TRUE(rest.parameters == whole.parameters) << graph.network;
    EXPECT_TRUE(std::equal(rest.losses.begin(), rest.losses.end(), whole.losses.begin() + 6))
        << graph.network;
  }
}

TEST(ConformanceDeterminism, any_number_of_threads_gives_nearly_the_same_loss) {
  for (const Graph& graph : graphs()) {
    const std::vector<double> three = course(*session_of(graph, 3), 0, 5).losses;
    testing::expect_but_for_rounding([&](const testing::Nudge& nudge) {
      const auto session = session_of(graph, 1);
      testing::Course shown;
      for (std::uint64_t step = 0; step < three.size(); ++step) {
        nudge(*session, step);
        shown.push_back({"loss", formats::join(graph.network, ", step ", step),
                         course(*session, step, 1).losses.front(), three[step]});
      }
      return shown;
    });
  }
}

}  // namespace
}  // namespace feedrate::trainer
