#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <limits>
#include <thread>

#include "tests/support/expect_error.h"
#include "tests/trainer/batches.h"
#include "trainer/backends/backend.h"
#include "trainer/networks/network.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

namespace {

using testing::expect_error;
using testing::RandomSource;

std::unique_ptr<Session> lenet_session(unsigned threads, std::uint32_t batch = 16) {
  return backend("cpu").compile(
      make_plan(network("lenet").build({28, 28, 1}, 10), batch),
      {.keep_gradients = true, .threads = threads, .optimizer = &optimizer("sgd")});
}

TEST(UnitCpuSession, gives_back_the_parameters_and_state_it_was_given) {
  const auto session = lenet_session(2);
  for (std::size_t i = 0; i < session->plan().graph.parameters.size(); ++i) {
    const std::vector<float> values = initial_values(session->plan().graph.parameters[i], i, 3);
    session->set_parameter(i, values);
    EXPECT_EQ(session->parameter(i), values);
    session->set_state(i, 0, values);
    EXPECT_EQ(session->state(i, 0), values);
  }
}

TEST(UnitCpuSession, start_values_are_the_seeds_and_state_starts_at_zero) {
  const auto session = lenet_session(1);
  initialise(*session, 9);
  const Parameter& weight = session->plan().graph.parameters[2];
  EXPECT_EQ(session->parameter(2), initial_values(weight, 2, 9));
  EXPECT_EQ(session->state(2, 0), std::vector<float>(25000));
}

TEST(UnitCpuSession, biases_move_at_twice_the_rate) {
  const auto session = lenet_session(1);
  initialise(*session, 1);
  RandomSource source({.batch = 16});
  session->upload(*source.next());
  session->train_step({.rate = 0.01, .momentum = 0}, 0);
  const std::vector<float> bias = session->parameter(7), gradient = session->gradient(7);
  for (std::size_t i = 0; i < bias.size(); ++i) EXPECT_FLOAT_EQ(bias[i], -0.02F * gradient[i]);
}

TEST(UnitCpuSession, plans_its_memory_and_shares_it) {
  const auto session = lenet_session(2, 64);
  // Three copies of 431,080 parameters, and activations that would take 9.2 MB unshared.
  EXPECT_GT(session->planned_bytes(), 3 * 431080 * sizeof(float));
  EXPECT_LT(session->planned_bytes(), std::size_t{14} << 20);
}

TEST(UnitCpuSession, its_threads_leave_the_cores_to_others_while_it_waits) {
  const auto cpu_seconds = [] {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  };
  const auto session = lenet_session(2);
  RandomSource source({.batch = 16});
  session->upload(*source.next());
  // Of several waits, because on a busy machine a thread may finish its step during one.
  double least = 1;
  for (int i = 0; i < 10; ++i) {
    session->evaluate_step();
    const double before = cpu_seconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    least = std::min(least, cpu_seconds() - before);
  }
  EXPECT_LT(least, 0.002);  // by default libgomp spins for 0.0035 every time
}

TEST(UnitCpuSession, a_loss_that_blew_up_is_not_hidden) {
  const auto session = lenet_session(2);
  initialise(*session, 1);
  std::vector<float> weights = session->parameter(0);
  weights[3] = std::nanf("");
  session->set_parameter(0, weights);
  RandomSource source({.batch = 16});
  session->upload(*source.next());
  session->evaluate_step();
  EXPECT_TRUE(std::isnan(session->take_metrics().loss_sum));
}

TEST(UnitCpuSession, a_step_that_diverges_teaches_nothing) {
  Builder b("normed", {5, 5, 1}, 3);
  const auto norm = b.batch_norm(b.conv(b.input(1.0 / 256), 4, 3, 1, 1, {}), {});
  const auto session =
      backend("cpu").compile(make_plan(b.softmax_loss(b.dense(b.relu(norm), 3, {})), 6),
                             {.threads = 2, .optimizer = &optimizer("sgd")});
  initialise(*session, 1);
  RandomSource source({.shape = {5, 5, 1}, .classes = 3, .batch = 6});
  const auto train = [&](std::uint64_t step) {
    session->upload(*source.next());
    session->train_step({.rate = 0.01, .momentum = 0.9}, step);
  };
  const auto parameters = [&] {
    std::vector<std::vector<float>> all;
    for (std::size_t i = 0; i < session->plan().graph.parameters.size(); ++i) {
      all.push_back(session->parameter(i));
    }
    return all;
  };
  const auto start = parameters();
  train(0);
  EXPECT_NE(parameters()[4], start[4]);  // the running mean
  std::vector<float> bias = session->parameter(7);
  bias[1] = std::numeric_limits<float>::infinity();
  session->set_parameter(7, bias);
  const auto before = parameters();
  train(1);
  ASSERT_TRUE(session->divergence());
  EXPECT_EQ(parameters(), before);
}

TEST(UnitCpuSession, without_an_optimizer_it_evaluates_only) {
  const auto session =
      backend("cpu").compile(make_plan(network("mlp").build({28, 28, 1}, 10), 8), {});
  initialise(*session, 1);
  RandomSource source({.batch = 8});
  session->upload(*source.next());
  session->evaluate_step();
  EXPECT_EQ(session->take_metrics().images, 8U);
  EXPECT_EQ(session->states(), 0U);
  expect_error([&] { session->train_step({}, 0); }, {"needs an optimizer"});
}

TEST(UnitBackends, the_cpu_is_always_usable_and_tells_its_name) {
  EXPECT_EQ(backend("cpu").unavailable(), "");
  EXPECT_TRUE(backend("cpu").device_name(1).ends_with(", 1 thread"));
  EXPECT_TRUE(backend("cpu").device_name(3).ends_with(", 3 threads"));
  EXPECT_NE(backend("cpu").device_name(0).find("thread"), std::string::npos);
  expect_error([] { backend("cuba"); }, {"no device 'cuba'", "did you mean cuda?"});
}

TEST(HostileCpuSession, what_does_not_fit_the_plan_is_refused) {
  const auto session = lenet_session(1);
  const auto upload = [&](const RandomSource::Options& options) {
    RandomSource source(options);
    session->upload(*source.next());
  };
  expect_error([&] { upload({.shape = {32, 32, 1}, .batch = 16}); }, {"28x28x1", "32x32x1"});
  expect_error([&] { upload({.batch = 17}); }, {"17 images", "1 to 16"});
  expect_error([&] { upload({.classes = 200, .batch = 16}); }, {"image ", "label ", "10 classes"});
  RandomSource source({.batch = 16});
  Batch batch = *source.next();
  batch.labels[5] = -1;
  expect_error([&] { session->upload(batch); }, {"image 5", "label -1"});
  batch.pixels = batch.pixels.first(100);
  expect_error([&] { session->upload(batch); }, {"does not match 16 images"});
  expect_error([&] { session->evaluate_step(); }, {"none was uploaded"});
}

// Norms and sums compute the relu after them, pools the relu before them. In forward_to() each node
// must still give its own output, and the relu its positive part.
void expect_separate_relus(Session& session, const std::vector<std::size_t>& nodes) {
  const Graph& graph = session.plan().graph;
  const auto values = [&](std::size_t of) {
    std::vector<float> all(4 * static_cast<std::size_t>(graph.nodes[of].extent.elements()));
    session.forward_to(of, all);
    return all;
  };
  for (const std::size_t node : nodes) {
    std::vector<float> own = values(node);
    EXPECT_LT(*std::min_element(own.begin(), own.end()), 0) << graph.nodes[node].name;
    for (float& value : own) value = std::max(value, 0.0F);
    EXPECT_EQ(values(node + 1), own) << graph.nodes[node + 1].name;
  }
}

TEST(UnitCpuSession, what_a_node_puts_out_is_its_own_whoever_does_the_relus_work) {
  Builder b("relus", {8, 8, 1}, 4);
  const auto norm = b.batch_norm(b.conv(b.input(1.0 / 64, 128), 16, 3, 1, 1, {}), {});
  const auto x = b.relu(norm);
  const auto sum = b.sum(b.conv(x, 16, 3, 1, 1, {}), x);
  const auto pooled = b.conv(b.relu(sum), 16, 3, 1, 1, {});
  const auto conv = b.conv(b.max_pool(b.relu(pooled), 2, 2), 16, 3, 1, 1, {});
  const auto dense = b.dense(b.relu(conv), 64, {});
  const Graph graph = b.softmax_loss(b.dense(b.relu(dense), 4, {}));
  for (const std::string precision : {"fp32", "bf16"}) {
    std::unique_ptr<Session> session;
    try {
      session = backend("cpu").compile(
          make_plan(graph, 4), {.precision = precision, .bf16_everywhere = true, .threads = 2});
    } catch (const Error&) {
      EXPECT_EQ(precision, "bf16");  // not every processor supports it
      continue;
    }
    initialise(*session, 1);
    RandomSource source({.shape = {8, 8, 1}, .classes = 4, .batch = 4, .images = 4});
    session->upload(*source.next());
    expect_separate_relus(*session, {norm, sum, pooled, conv, dense});
  }
}

TEST(HostileCpuSession, precisions_it_has_not_are_refused) {
  expect_error(
      [] {
        backend("cpu").compile(make_plan(network("mlp").build({28, 28, 1}, 10), 8),
                               {.precision = "fp16"});
      },
      {"fp32", "fp16"});
}

}  // namespace
}  // namespace feedrate::trainer
