// What a CUDA session does besides plain steps: every optimizer, evaluation, features, divergence.

#include <limits>

#include "tests/trainer/cuda_parity.h"

namespace feedrate::testing {
using namespace formats;
using namespace loader;
using namespace trainer;

namespace {

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

TEST_P(CudaParity, smoothed_labels_and_top_5) {
  Builder b("smooth", {4, 4, 1}, 40);
  Graph graph = b.softmax_loss(b.dense(b.input(1.0 / 255), 40, {}));
  graph.nodes.back().attributes["smoothing"] = 0.3;
  expect_parity(graph, 6, 3);
}

TEST_P(CudaParity, copies_are_counted_in_both_directions) {
  const Network& lenet = network("lenet");
  const Graph graph = lenet.build(lenet.published_input(), 10);
  EXPECT_FALSE(start(backend("cpu"), graph, 3)->transfers());
  const auto gpu = start(*cuda_, graph, 3);
  ASSERT_TRUE(gpu->transfers());
  EXPECT_EQ(gpu->transfers()->up.count, 0U);
  const RandomBatch images(graph, 2, 1);
  gpu->upload(images.batch());
  gpu->evaluate_step();
  gpu->take_metrics();
  const Transfers now = *gpu->transfers();
  EXPECT_EQ(now.up.count, 2U);                                      // pixels, labels
  EXPECT_EQ(now.up.bytes, 2 * 28 * 28 + 3 * sizeof(std::int32_t));  // two images, a batch of labels
  EXPECT_GT(now.up.seconds, 0);
  EXPECT_EQ(now.down.count, 1U);
  EXPECT_GE(now.down.bytes, sizeof(Metrics));
}

TEST_P(CudaParity, batches_on_the_device_are_used_again_in_turn_without_a_copy) {
  const Network& lenet = network("lenet");
  const Graph graph = lenet.build(lenet.published_input(), 10);
  const auto again = start(*cuda_, graph, 3), each = start(*cuda_, graph, 3);
  const RandomBatch images[] = {{graph, 3, 1}, {graph, 2, 2}};
  for (std::uint64_t step = 0; step < 6; ++step) {
    const Batch& batch = images[step % 2].batch();
    each->upload(batch);
    if (step < 2) {
      again->upload(batch);
    } else {
      EXPECT_EQ(again->reuse_batch(), batch.count) << step;
    }
    for (Session* session : {again.get(), each.get()}) session->train_step({.rate = 1e-3}, step);
  }
  EXPECT_EQ(again->parameter(0), each->parameter(0));
  const double loss = again->take_metrics().loss_sum;
  EXPECT_GT(loss, 0);
  EXPECT_EQ(loss, each->take_metrics().loss_sum);
  EXPECT_EQ(again->transfers()->up.count, 4U);
  EXPECT_EQ(each->transfers()->up.count, 12U);

  const auto one = start(*cuda_, graph, 3);
  one->upload(images[1].batch());
  EXPECT_EQ(one->reuse_batch(), 2U) << "there is no other";
}

TEST_P(CudaParity, features_as_far_as_a_node) {
  const Network& lenet = network("lenet");
  const Graph graph = lenet.build(lenet.published_input(), 10);
  const RandomBatch images(graph, 2, 1);
  const auto features = [&](const Backend& on, const Nudge& nudge) {
    const auto session = start(on, graph, 3);
    std::vector<float> values(2 * static_cast<std::size_t>(graph.nodes[4].extent.elements()));
    nudge(*session, 0);
    session->upload(images.batch());
    session->forward_to(4, values);
    return values;
  };
  EXPECT_LE(relative_difference(features(*cuda_, {}), features(backend("cpu"), {})),
            rounding_of([&](const Nudge& nudge) { return features(backend("cpu"), nudge); }));
}

TEST_P(CudaParity, max_pooling_keeps_nan_wherever_it_stands) {
  for (const std::int64_t kernel : {2, 3}) {
    // Pixels below 100 become minus infinity, those above it infinity, and 100 NaN.
    Builder b("nan", {13, 13, 3}, 3);
    const auto pooled =
        b.max_pool(b.input(std::numeric_limits<double>::infinity(), 100), kernel, 2);
    const Graph graph = b.softmax_loss(b.dense(pooled, 3, {}));
    const RandomBatch images(graph, 4, 1);
    const auto pool = [&](const Backend& on) {
      const auto session = start(on, graph, 4);
      std::vector<float> values(4 * static_cast<std::size_t>(graph.nodes[1].extent.elements()));
      session->upload(images.batch());
      session->forward_to(1, values);
      return values;
    };
    const auto is_nan = [](float value) { return std::isnan(value); };
    const std::vector<float> found = pool(*cuda_), expected = pool(backend("cpu"));
    EXPECT_GT(std::ranges::count_if(found, is_nan), 0);
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_TRUE(found[i] == expected[i] || (is_nan(found[i]) && is_nan(expected[i])))
          << "kernel " << kernel << ", value " << i << ": " << found[i] << ", on the CPU "
          << expected[i];
    }
  }
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
        // Finite weights whose products are infinite, or weights that are NaN.
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

TEST_P(CudaParity, a_step_that_diverges_changes_no_running_statistics) {
  Builder b("normed", {5, 5, 1}, 3);
  const auto norm = b.batch_norm(b.conv(b.input(0.01), 4, 3, 1, 1, {}), {});
  const Graph graph = b.softmax_loss(b.dense(b.relu(norm), 3, {}));
  for (const char* precision : {"fp32", "bf16"}) {
    SCOPED_TRACE(precision);
    const auto gpu = start(*cuda_, graph, 4, optimizer("sgd"), precision);
    const auto train = [&](std::uint64_t step) {
      gpu->upload(RandomBatch(graph, 4, step).batch());
      gpu->train_step(settings, step);
    };
    const auto statistics = [&] { return std::pair(gpu->parameter(4), gpu->parameter(5)); };
    ASSERT_EQ(graph.parameters[4].learned || graph.parameters[5].learned, false);
    const auto start = statistics();
    train(0);
    const auto before = statistics();
    EXPECT_NE(before.first, start.first);
    EXPECT_NE(before.second, start.second);
    std::vector<float> bias = gpu->parameter(7);
    bias[1] = std::numeric_limits<float>::infinity();
    gpu->set_parameter(7, bias);
    for (const std::uint64_t step : {1U, 2U}) train(step);
    gpu->wait();
    ASSERT_TRUE(gpu->divergence());
    EXPECT_EQ(gpu->divergence()->step, 1U);
    EXPECT_EQ(statistics(), before);
  }
}

// A real device has room for this batch.
class CudaRoom : public CudaParity {};
INSTANTIATE_TEST_SUITE_P(ConformanceEmulated, CudaRoom, ::testing::Values(Device::emulated),
                         device_label);

TEST_P(CudaRoom, a_batch_that_does_not_fit_is_refused_with_the_largest_that_does) {
  Builder b("large", {64, 64, 3}, 3);
  const Graph graph = b.softmax_loss(b.dense(b.max_pool(b.relu(b.input(0.01)), 2, 2), 3, {}));
  const auto compile = [&](std::uint32_t batch) {
    return cuda_->compile(make_plan(graph, batch), options());
  };
  std::string message;
  try {
    compile(20000);
  } catch (const Error& error) {
    message = error.what();
  }
  const std::string before = "the largest batch that would fit is ";
  ASSERT_NE(message.find(before), std::string::npos) << message;
  for (const char* part : {"a batch of 20000 needs", "of parameters", "GPU has 10"}) {
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  }
  const auto max_batch =
      static_cast<std::uint32_t>(std::stoul(message.substr(message.find(before) + before.size())));
  EXPECT_GT(max_batch, 1000U);
  compile(max_batch);
  expect_error([&] { compile(max_batch + max_batch / 100); }, {"the largest batch that would fit"});
}

TEST_P(CudaParity, evaluation_changes_nothing_and_drops_nothing) {
  Builder b("evaluation", {6, 6, 1}, 4);
  const Graph graph =
      b.softmax_loss(b.dense(b.dropout(b.conv(b.input(0.01), 3, 3, 1, 0, {}), 0.5), 4, {}));
  const auto gpu = start(*cuda_, graph, 6);
  const std::vector<float> before = gpu->parameter(0);
  const auto evaluate = [&](Session& session) {
    for (const std::uint32_t count : {6U, 2U}) {
      session.upload(RandomBatch(graph, count, count).batch());
      session.evaluate_step();
    }
    return session.take_metrics();
  };
  const Metrics found = evaluate(*gpu);
  expect_but_for_rounding([&](const Nudge& nudge) {
    const auto cpu = start(backend("cpu"), graph, 6);
    nudge(*cpu, 0);
    const Metrics expected = evaluate(*cpu);
    if (nudge.number == 0) {
      EXPECT_EQ(found.correct, expected.correct);
    }
    return Course{{"loss", "evaluation", expected.loss_sum, found.loss_sum}};
  });
  EXPECT_EQ(found.images, 8U);
  EXPECT_EQ(gpu->parameter(0), before);
  EXPECT_EQ(gpu->take_metrics().images, 0U) << "taking clears";
}

}  // namespace
}  // namespace feedrate::testing
