#include "trainer/loop/infer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/support/expect_error.h"
#include "tests/trainer/batches.h"
#include "trainer/loop/trainer.h"
#include "trainer/networks/network.h"

namespace feedrate::trainer {
using namespace loader;

namespace {

using testing::RandomSource;

std::unique_ptr<Session> inferring_session(Graph graph, const Optimizer* rule = nullptr) {
  auto session =
      backend("cpu").compile(make_plan(std::move(graph), 16), {.threads = 2, .optimizer = rule});
  initialise(*session, 1);
  return session;
}

TEST(UnitInfer, finds_what_evaluation_finds_and_times_all_but_the_first_batch) {
  const auto session = inferring_session(network("lenet").build({28, 28, 1}, 10));
  RandomSource source({.batch = 16, .images = 100}), again({.batch = 16, .images = 100});
  const Inference found = infer(*session, source);
  const Evaluation expected = evaluate(*session, again);
  EXPECT_EQ(found.images, 100U);
  EXPECT_EQ(found.timed_images, 84U);
  EXPECT_GT(found.seconds, 0);
  EXPECT_DOUBLE_EQ(found.seconds_per_1000(), 1000 * found.seconds / 84);
  EXPECT_EQ(found.loss, expected.loss);
  EXPECT_EQ(found.accuracy, expected.accuracy);
  EXPECT_EQ(found.accuracy5, expected.accuracy5);
  RandomSource one({.batch = 16, .images = 100});
  EXPECT_EQ(infer(*session, one, 1).images, 16U);
}

// A network with pooled blocks of channels, whose layouts differ from the canonical one.
TEST(UnitInfer, features_are_what_the_last_pooling_puts_out_in_canonical_order) {
  Builder b("pooled", {6, 6, 3}, 4);
  const auto x = b.max_pool(b.conv(b.input(1), 20, 3, 1, 1, {}), 2, 2);
  const Graph graph = b.softmax_loss(b.dense(b.dropout(b.relu(x), 0.5), 4, {}));
  ASSERT_EQ(graph.nodes[last_pooling(graph)].name, "max_pool1");
  const auto session = inferring_session(graph);
  // In this kernel, filter f computes the mean of channel f % 3, times f + 1.
  std::vector<float> weights(20 * 3 * 9);
  for (std::size_t f = 0; f < 20; ++f) weights[(f * 3 + f % 3) * 9 + 4] = static_cast<float>(f + 1);
  session->set_parameter(0, weights);
  const RandomSource::Options data{.shape = {6, 6, 3}, .classes = 4, .batch = 16, .images = 20};
  std::vector<float> found;
  RandomSource source(data), pixels(data);
  const Inference result =
      extract_features(*session, source, last_pooling(graph), [&](std::span<const float> values) {
        found.insert(found.end(), values.begin(), values.end());
      });
  EXPECT_EQ(result.images, 20U);
  ASSERT_EQ(found.size(), 20U * 20 * 9);
  std::size_t at = 0;
  while (const Batch* batch = pixels.next()) {
    for (std::size_t image = 0; image < batch->count; ++image) {
      const auto pixel = [&](std::size_t row, std::size_t column, std::size_t channel) {
        return static_cast<float>(batch->pixels[((image * 6 + row) * 6 + column) * 3 + channel]);
      };
      for (std::size_t f = 0; f < 20; ++f) {
        for (std::size_t row = 0; row < 6; row += 2) {
          for (std::size_t column = 0; column < 6; column += 2) {
            const float max =
                std::max({pixel(row, column, f % 3), pixel(row, column + 1, f % 3),
                          pixel(row + 1, column, f % 3), pixel(row + 1, column + 1, f % 3)});
            ASSERT_FLOAT_EQ(found[at++], max * static_cast<float>(f + 1)) << image << " " << f;
          }
        }
      }
    }
  }
}

TEST(HostileInfer, a_network_without_pooling_has_no_features) {
  testing::expect_error(
      [] {
        last_pooling(network("mlp").build({28, 28, 1}, 10));
      },
      {"mlp", "no pooling"});
}

// Computes the loss by its definition, and the rank of the label.
TEST(HostileInfer, what_is_not_finite_is_an_error_that_says_where) {
  const auto session = inferring_session(network("lenet").build({28, 28, 1}, 10));
  const std::size_t weights = session->parameter(0).size();
  session->set_parameter(0, std::vector<float>(weights, std::nanf("")));
  RandomSource source({.batch = 16, .images = 32}), again({.batch = 16, .images = 32});
  testing::expect_error([&] { infer(*session, source); }, {"lenet", "the loss is not finite"});
  const std::size_t node = last_pooling(session->plan().graph);
  testing::expect_error(
      [&] {
        extract_features(*session, again, node, [](std::span<const float>) {
          ADD_FAILURE() << "features that are not finite were handed on";
        });
      },
      {"image 0: value 0", session->plan().graph.nodes[node].name, "nan"});
}

TEST(UnitSoftmaxLoss, smoothing_and_top_5_are_as_they_are_defined) {
  Builder b("smooth", {1, 7, 1}, 7);
  Graph graph = b.softmax_loss(b.dense(b.input(1.0 / 255), 7, {}));
  graph.nodes.back().attributes["smoothing"] = 0.2;
  const auto session = inferring_session(graph, &optimizer("sgd"));
  std::vector<float> identity(49);
  for (std::size_t i = 0; i < 7; ++i) identity[i * 8] = 4;
  session->set_parameter(0, identity);
  RandomSource source({.shape = {1, 7, 1}, .classes = 7, .batch = 16, .images = 16});
  const Batch& batch = *source.next();
  session->upload(batch);
  session->evaluate_step();
  const Metrics plain = session->take_metrics();
  session->train_step({.rate = 0}, 0);
  const Metrics smooth = session->take_metrics();

  double expected = 0, expected_smooth = 0;
  std::uint64_t few = 0;
  for (std::size_t n = 0; n < 16; ++n) {
    std::vector<double> logits;
    for (std::size_t k = 0; k < 7; ++k) logits.push_back(4.0 * batch.pixels[n * 7 + k] / 255);
    double sum = 0;
    for (const double logit : logits) sum += std::exp(logit);
    const auto label = static_cast<std::size_t>(batch.labels[n]);
    std::uint64_t before = 0;
    for (std::size_t k = 0; k < 7; ++k) {
      before += logits[k] > logits[label] || (logits[k] == logits[label] && k < label) ? 1 : 0;
      const double target = (k == label ? 0.8 : 0.0) + 0.2 / 7;
      expected_smooth -= target * (logits[k] - std::log(sum));
    }
    expected -= logits[label] - std::log(sum);
    few += before < 5 ? 1 : 0;
  }
  EXPECT_NEAR(plain.loss_sum, expected, 1e-5 * expected);
  EXPECT_NEAR(smooth.loss_sum, expected_smooth, 1e-5 * expected_smooth);
  EXPECT_EQ(plain.correct5, few);
  EXPECT_EQ(smooth.correct5, few);
  EXPECT_LT(few, 16U);
}

TEST(UnitSoftmaxLoss, a_label_that_is_not_a_number_stands_behind_all) {
  Builder b("nan", {1, 6, 1}, 6);
  const auto session = inferring_session(b.softmax_loss(b.dense(b.input(1), 6, {})));
  session->set_parameter(0, std::vector<float>(36, std::nanf("")));
  RandomSource source({.shape = {1, 6, 1}, .classes = 6, .batch = 16, .images = 16});
  session->upload(*source.next());
  session->evaluate_step();
  EXPECT_EQ(session->take_metrics().correct5, 0U);
}

}  // namespace
}  // namespace feedrate::trainer
