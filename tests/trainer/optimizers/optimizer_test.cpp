// Compares ten steps of each optimizer with PyTorch's (parity/make_optimizer_parity.py); tests
// resuming, and the rules that PyTorch does not define.

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/expect_error.h"
#include "tests/support/places.h"
#include "tests/support/temp_directory.h"
#include "tests/trainer/batches.h"
#include "tests/trainer/rounding.h"
#include "trainer/backends/backend.h"
#include "trainer/loop/checkpoint.h"

namespace feedrate::trainer {
using namespace loader;

namespace {

using testing::RandomSource;

Graph small_network() {
  Builder b("small", {28, 28, 1}, 10);
  const auto x = b.max_pool(b.relu(b.conv(b.input(1.0 / 256), 4, 5, 2, 0, {})), 2, 2);
  return b.softmax_loss(b.dense(x, 10, {}));
}

std::unique_ptr<Session> session_of(const Optimizer& rule, unsigned threads = 2) {
  auto session =
      backend("cpu").compile(make_plan(small_network(), 64),
                             {.keep_gradients = true, .threads = threads, .optimizer = &rule});
  initialise(*session, 1);
  return session;
}

UpdateSettings settings_of(std::string_view name) {
  if (name == "nesterov") return {.rate = 0.02, .decay = 0.01};
  if (name == "rmsprop") {
    return {.rate = 0.002, .momentum = 0.5, .decay = 0.01, .beta2 = 0.95, .epsilon = 1e-6};
  }
  if (name == "lars") return {.rate = 2, .decay = 0.01, .trust = 0.02};
  const double decay = name == "adamw" ? 0.1 : 0.01;
  return {.rate = 0.003, .momentum = 0.8, .decay = decay, .beta2 = 0.99, .epsilon = 1e-6};
}

double norm(const std::vector<float>& values) {
  double squares = 0;
  for (const float value : values) squares += double{value} * value;
  return std::sqrt(squares);
}

testing::Course course(const Optimizer& rule, const nlohmann::json& expected,
                       const testing::Nudge& nudge) {
  const auto session = session_of(rule);
  const std::string name(rule.name());
  RandomSource source({.seed = 1});
  testing::Course shown;
  for (std::uint64_t step = 0; step < 10; ++step) {
    nudge(*session, step);
    session->upload(*source.next());
    session->train_step(settings_of(name), step);
    shown.push_back({"loss", formats::join(name, ", step ", step),
                     session->take_metrics().loss_sum / 64, expected["losses"][step]});
  }
  const std::vector<Parameter>& parameters = session->plan().graph.parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    shown.push_back({"norm of " + parameters[i].name, name, norm(session->parameter(i)),
                     expected["norms"].at(parameters[i].name)});
  }
  return shown;
}

TEST(InteropOptimizers, ten_steps_of_each_are_pytorchs) {
  std::ifstream file(testing::source_directory() / "tests/trainer/parity/optimizers.json");
  const nlohmann::json expected = nlohmann::json::parse(file);
  std::size_t seen = 0;
  for (const Optimizer* rule : optimizers()) {
    if (!expected.contains(rule->name())) continue;
    ++seen;
    testing::expect_but_for_rounding([&](const testing::Nudge& nudge) {
      return course(*rule, expected[std::string(rule->name())], nudge);
    });
  }
  EXPECT_EQ(seen + 1, expected.size());      // plus an entry with PyTorch's version
  EXPECT_EQ(seen + 1, optimizers().size());  // sgd has its own numbers, in parity_test.cpp
}

TEST(ConformanceOptimizers, resumed_from_a_checkpoint_each_ends_in_the_same_bits) {
  const testing::TempDirectory directory;
  for (const Optimizer* rule : optimizers()) {
    const UpdateSettings settings = settings_of(rule->name());
    const auto whole = session_of(*rule), second = session_of(*rule);
    RandomSource source({.seed = 1});
    for (std::uint64_t step = 0; step < 8; ++step) {
      if (step == 3) {
        save_checkpoint(directory / "a", *whole, {.network = "small", .step = step});
        EXPECT_EQ(load_checkpoint(directory / "a", *second).step, 3U);
      }
      const Batch& batch = *source.next();
      for (Session* session : {whole.get(), second.get()}) {
        if (session == second.get() && step < 3) continue;
        session->upload(batch);
        session->train_step(settings, step);
      }
    }
    for (std::size_t i = 0; i < whole->plan().graph.parameters.size(); ++i) {
      EXPECT_EQ(whole->parameter(i), second->parameter(i)) << rule->name();
      for (std::size_t slot = 0; slot < whole->states(); ++slot) {
        EXPECT_EQ(whole->state(i, slot), second->state(i, slot)) << rule->name();
        EXPECT_GT(norm(whole->state(i, slot)), 0) << rule->name();
      }
    }
  }
}

TEST(ConformanceOptimizers, any_number_of_threads_gives_nearly_the_same_weights) {
  for (const Optimizer* rule : optimizers()) {
    const auto weights = [&](unsigned threads, const testing::Nudge& nudge) {
      const auto session = session_of(*rule, threads);
      RandomSource source({.seed = 1});
      for (std::uint64_t step = 0; step < 3; ++step) {
        nudge(*session, step);
        session->upload(*source.next());
        session->train_step(settings_of(rule->name()), step);
      }
      return session->parameter(2);
    };
    EXPECT_LE(testing::relative_difference(weights(3, {}), weights(1, {})),
              testing::rounding_of([&](const testing::Nudge& nudge) { return weights(1, nudge); }))
        << rule->name();
  }
}

TEST(UnitOptimizers, lars_takes_the_plain_step_where_a_layer_has_no_length) {
  const auto session = session_of(optimizer("lars"));
  session->set_parameter(0, std::vector<float>(100));  // the convolution's weights
  RandomSource source({.seed = 1});
  session->upload(*source.next());
  session->train_step({.rate = 0.5, .momentum = 0}, 0);
  const std::vector<float> weights = session->parameter(0), gradient = session->gradient(0);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    ASSERT_FLOAT_EQ(weights[i], -0.5F * gradient[i]);
  }
}

TEST(HostileOptimizers, a_checkpoint_of_another_optimizer_is_refused) {
  const testing::TempDirectory directory;
  save_checkpoint(directory / "a", *session_of(optimizer("adam")), {.network = "small"});
  testing::expect_error([&] { load_checkpoint(directory / "a", *session_of(optimizer("adamw"))); },
                        {"a: ", "trained by the optimizer adam, not by adamw"});
  testing::expect_error([] { optimizer("adm"); }, {"no optimizer 'adm'", "did you mean adam?"});
}

}  // namespace
}  // namespace feedrate::trainer
