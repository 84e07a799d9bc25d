// For every operator, the reference agrees with finite differences and the CPU backend with the
// reference.

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/trainer/batches.h"
#include "tests/trainer/op_cases.h"
#include "tests/trainer/reference.h"
#include "trainer/backends/backend.h"
#include "trainer/graph/op.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

namespace {

using testing::Doubles;
using testing::OpCase;
using testing::RandomSource;
using testing::Reference;

constexpr std::uint64_t seed = 5;
constexpr std::uint64_t step = 3;

std::vector<Doubles> start_values(const Graph& graph) {
  std::vector<Doubles> all;
  for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
    const std::vector<float> values = initial_values(graph.parameters[i], i, seed);
    all.emplace_back(values.begin(), values.end());
  }
  return all;
}

RandomSource source_for(const Graph& graph, std::uint32_t images) {
  return RandomSource({.shape = graph.input,
                       .classes = graph.classes,
                       .batch = images,
                       .images = images,
                       .epochs = 9,
                       .seed = seed});
}

double largest(std::span<const double> values) {
  double max = 0;
  for (const double v : values) max = std::max(max, std::abs(v));
  return max;
}

TEST(ConformanceOps, every_operator_has_a_case) {
  std::set<std::string_view> covered;
  const std::vector<OpCase> cases = testing::op_cases();
  for (const OpCase& c : cases) covered.insert(c.op);
  for (const Op* row : ops()) {
    EXPECT_TRUE(covered.contains(row->name())) << row->name() << " has no case in op_cases.h";
  }
}

TEST(ConformanceOps, the_referees_gradients_are_its_finite_differences) {
  constexpr double nudge = 1e-5;
  for (const OpCase& c : testing::op_cases()) {
    RandomSource source = source_for(c.graph, 2);
    const Batch& batch = *source.next();
    Reference referee(c.graph, start_values(c.graph));
    const Reference::Mode mode{.seed = seed, .step = step};
    referee.run(batch, mode);
    referee.backward();
    for (std::size_t p = 0; p < referee.parameters.size(); ++p) {
      const double scale = largest(referee.gradients[p]);
      for (std::size_t probe = 0; probe < 3; ++probe) {
        const std::size_t i = random_bits(p, probe) % referee.parameters[p].size();
        double& value = referee.parameters[p][i];
        const double before = value;
        value = before + nudge;
        const double above = referee.run(batch, mode);
        value = before - nudge;
        const double below_it = referee.run(batch, mode);
        value = before;
        EXPECT_NEAR(referee.gradients[p][i], (above - below_it) / (2 * nudge), 1e-6 * scale + 1e-9)
            << c.op << " " << c.what << ": " << c.graph.parameters[p].name << "[" << i << "]";
      }
    }
  }
}

void expect_near(std::span<const float> found, const Doubles& expected, double tolerance,
                 const std::string& where) {
  ASSERT_EQ(found.size(), expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    worst = std::max(worst, std::abs(double{found[i]} - expected[i]));
  }
  EXPECT_LE(worst, tolerance) << where;
}

// Compares one training step on `count` images, in a batch of 4, with the reference.
void expect_as_the_referee(const OpCase& c, const SessionOptions& options, std::uint32_t count) {
  const std::string where =
      join(c.op, " ", c.what, ", ", options.threads, " threads, ", count, " images: ");
  // First a full batch of other images: its remains must not matter, except for running
  // statistics.
  RandomSource others({.shape = c.graph.input, .classes = 5, .batch = 4, .images = 4, .seed = 99});
  const Batch& other_batch = *others.next();
  RandomSource source = source_for(c.graph, count);
  const Batch& batch = *source.next();
  Reference referee(c.graph, start_values(c.graph));
  referee.run(other_batch, {.seed = seed, .step = 0});
  const double loss = referee.run(batch, {.seed = seed, .step = step});
  referee.backward();

  const auto session = backend("cpu").compile(make_plan(c.graph, 4), options);
  initialise(*session, seed);
  session->upload(other_batch);
  session->train_step({.rate = 0, .momentum = 0}, 0);
  session->take_metrics();

  session->upload(batch);
  session->train_step({.rate = 0, .momentum = 0}, step);
  const Metrics metrics = session->take_metrics();
  EXPECT_EQ(metrics.images, count) << where;
  EXPECT_EQ(metrics.correct, referee.correct()) << where;
  EXPECT_NEAR(metrics.loss_sum / count, loss, 1e-5 * loss) << where;
  for (std::size_t p = 0; p < referee.gradients.size(); ++p) {
    const std::string name = where + c.graph.parameters[p].name;
    expect_near(session->gradient(p), referee.gradients[p], 1e-5 * largest(referee.gradients[p]),
                name);
    const double size = largest(referee.parameters[p]);
    expect_near(session->parameter(p), referee.parameters[p], 1e-6 * size, name);
  }

  const double quiet_loss = referee.run(batch, {.training = false});
  session->evaluate_step();
  EXPECT_NEAR(session->take_metrics().loss_sum / count, quiet_loss, 1e-5 * quiet_loss) << where;
}

TEST(ConformanceOps, the_cpu_computes_what_the_referee_computes) {
  for (const OpCase& c : testing::op_cases()) {
    for (const unsigned threads : {1U, 2U, 3U}) {
      expect_as_the_referee(c,
                            {.keep_gradients = true,
                             .threads = threads,
                             .optimizer = &optimizer("sgd"),
                             .seed = seed},
                            4);
    }
  }
}

TEST(ConformanceOps, an_epochs_last_smaller_batch_gives_means_over_its_own_images) {
  for (const OpCase& c : testing::op_cases()) {
    expect_as_the_referee(
        c, {.keep_gradients = true, .threads = 2, .optimizer = &optimizer("sgd"), .seed = seed}, 3);
  }
}

}  // namespace
}  // namespace feedrate::trainer
