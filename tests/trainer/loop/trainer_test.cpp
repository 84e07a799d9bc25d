#include "trainer/loop/trainer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "tests/support/expect_error.h"
#include "tests/trainer/batches.h"
#include "trainer/networks/network.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

namespace {

using testing::expect_error;
using testing::RandomSource;

std::unique_ptr<Session> session_of(std::string_view name, std::uint32_t batch = 32) {
  auto session = backend("cpu").compile(make_plan(network(name).build({28, 28, 1}, 10), batch),
                                        {.threads = 2, .optimizer = &optimizer("sgd")});
  initialise(*session, 1);
  return session;
}

// A slow source.
class SlowSource final : public BatchSource {
 public:
  SlowSource(BatchSource& source, double seconds) : source_(source), seconds_(seconds) {}
  const Batch* next() override {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds_));
    return source_.next();
  }
  Shape shape() const override { return source_.shape(); }
  std::uint32_t batch_size() const override { return source_.batch_size(); }

 private:
  BatchSource& source_;
  double seconds_;
};

// A source whose first batches are slow.
class WarmingSource final : public BatchSource {
 public:
  explicit WarmingSource(BatchSource& source) : source_(source) {}
  const Batch* next() override {
    std::this_thread::sleep_for(std::chrono::milliseconds(taken_++ < slow ? 500 : 5));
    return source_.next();
  }
  Shape shape() const override { return source_.shape(); }
  std::uint32_t batch_size() const override { return source_.batch_size(); }

  static constexpr std::uint64_t slow = 2;

 private:
  BatchSource& source_;
  std::uint64_t taken_ = 0;
};

TEST(UnitTrain, the_rate_of_a_run_of_given_length_is_that_after_warming_up) {
  const auto session = session_of("mlp", 4);
  RandomSource source({.batch = 4, .images = 1000});
  WarmingSource warming(source);
  const TrainResult result = train(*session, warming, {.seconds = 2.5});
  EXPECT_GT(result.warmup_seconds.value_or(0), 0.2);
  const auto all = static_cast<double>(result.images_after_first);
  EXPECT_GT(result.images_per_second, all / result.seconds);
  EXPECT_EQ(result.images_per_second,
            static_cast<double>(result.timed_images) / result.timed_seconds);
  EXPECT_LT(result.timed_images, result.images_after_first);
  EXPECT_GT(result.stall_percent, 0);

  RandomSource again({.batch = 4, .images = 40});
  EXPECT_FALSE(train(*session, again, {}).warmup_seconds.has_value());
}

TEST(UnitTrain, uploads_only_as_many_batches_as_it_is_told_and_goes_on_with_what_is_there) {
  const auto again = session_of("mlp"), reference = session_of("mlp");
  RandomSource source({.batch = 32, .images = 90, .epochs = 2});  // the third has 26
  const TrainResult result = train(*again, source, {.uploads = 1});
  EXPECT_EQ(result.steps, 6U);
  EXPECT_EQ(result.images, 6U * 32) << "of the batch that was trained on";
  for (std::uint64_t step = 0; step < 6; ++step) {
    RandomSource first({.batch = 32, .images = 90});
    train(*reference, first, {.steps = 1, .first_step = step});
  }
  EXPECT_EQ(again->parameter(0), reference->parameter(0));
}

TEST(UnitTrain, ends_with_the_source_and_counts_every_image) {
  const auto session = session_of("mlp");
  RandomSource source({.batch = 32, .images = 100, .epochs = 2});
  const TrainResult result = train(*session, source, {});
  EXPECT_EQ(result.steps, 8U);
  EXPECT_EQ(result.images, 200U);
  EXPECT_GT(result.images_per_second, 0);
  EXPECT_GT(result.loss, 0);
}

TEST(UnitTrain, stops_after_the_steps_it_was_given) {
  const auto session = session_of("mlp");
  RandomSource source({.batch = 32, .images = 320});
  EXPECT_EQ(train(*session, source, {.steps = 3}).steps, 3U);
  EXPECT_EQ(source.next()->number, 3U);  // it took no further batch
}

TEST(UnitTrain, reports_the_mean_of_each_window_and_of_the_rest) {
  const auto session = session_of("mlp");
  RandomSource source({.batch = 32, .images = 320});
  std::vector<std::uint64_t> steps;
  const TrainResult result = train(*session, source,
                                   {.first_step = 100,
                                    .report_every = 4,
                                    .progress = [&](const TrainOptions::Progress& progress) {
                                      steps.push_back(progress.step);
                                      EXPECT_GT(progress.images_per_second, 0);
                                    }});
  EXPECT_EQ(steps, (std::vector<std::uint64_t>{104, 108, 110}));
  ASSERT_EQ(result.curve.size(), 3U);
  EXPECT_EQ(result.curve.back().loss, result.loss);
}

TEST(UnitTrain, learns_what_can_be_learnt) {
  const auto session = session_of("mlp");
  RandomSource source({.classes = 2, .batch = 32, .images = 64, .epochs = 40});
  const TrainResult result = train(*session, source, {.report_every = 20});
  EXPECT_LT(result.loss, 0.2 * result.curve.front().loss);
  EXPECT_GT(result.accuracy, 0.95);
}

TEST(UnitTrain, waiting_for_data_is_told_apart_from_work) {
  const auto session = session_of("mlp");
  RandomSource source({.batch = 32, .images = 160});
  SlowSource slow(source, 0.05);
  const TrainResult result = train(*session, slow, {});
  EXPECT_GT(result.wait_seconds, 4 * 0.05);
  EXPECT_LE(result.wait_seconds, result.seconds);
  EXPECT_DOUBLE_EQ(result.stall_percent, 100 * result.wait_seconds / result.seconds);
}

TEST(UnitTrain, the_first_step_is_not_timed) {
  const auto session = session_of("mlp");
  RandomSource source({.batch = 32, .images = 32});
  SlowSource slow(source, 0.02);
  const TrainResult result = train(*session, slow, {.steps = 1});
  EXPECT_EQ(result.steps, 1U);
  EXPECT_EQ(result.seconds, 0);
  EXPECT_EQ(result.wait_seconds, 0);
  EXPECT_EQ(result.images_per_second, 0);
}

TEST(UnitTrain, a_loss_that_is_no_longer_finite_stops_it_at_the_step_with_the_layer) {
  const auto session = session_of("mlp");
  RandomSource source({.batch = 32, .images = 3200});
  TrainOptions options;
  options.schedule.rate = 1e30;
  options.report_every = 50;
  options.first_step = 40;
  // Step 40 leaves weights of 1e28, which overflow in the second product of step 41.
  expect_error([&] { train(*session, source, options); },
               {"step 41", "no longer finite", "first output that is not finite is that of dense2;",
                "no checkpoint to go back to"});
  options.last_good = [] { return "a.st, which stands at step 30"; };
  expect_error([&] { train(*session, source, options); },
               {"step 41", "go back to a.st, which stands at step 30"});
}

TEST(UnitTrain, an_error_between_two_steps_leaves_a_session_that_can_be_saved) {
  const auto session = session_of("mlp");
  RandomSource source({.batch = 32, .images = 3200});
  std::vector<std::uint64_t> failed;
  TrainOptions options;
  options.first_step = 40;
  options.report_every = 3;
  options.progress = [](const TrainOptions::Progress&) { throw Error("the disk is full"); };
  options.failed = [&](std::uint64_t steps) { failed.push_back(steps); };
  expect_error([&] { train(*session, source, options); }, {"the disk is full"});
  EXPECT_EQ(failed, std::vector<std::uint64_t>{43});

  options.schedule.rate = 1e30;
  expect_error([&] { train(*session, source, options); }, {"no longer finite"});
  EXPECT_EQ(failed.size(), 1U) << "a session that diverged must not replace a good checkpoint";
}

TEST(UnitTrain, a_loss_that_grows_a_thousandfold_is_warned_of_once) {
  const auto warnings = [](double rate) {
    const auto session = session_of("lenet");
    RandomSource source({.batch = 32, .images = 320});
    std::vector<std::string> sentences;
    TrainOptions options;
    options.schedule = {.policy = "step", .rate = rate, .gamma = 1e-6, .step_size = 1};
    options.update.momentum = 0;  // the second step and those behind it change next to nothing
    options.report_every = 1;
    options.warn = [&](const std::string& sentence) { sentences.push_back(sentence); };
    train(*session, source, options);
    return sentences;
  };
  EXPECT_EQ(warnings(0.001).size(), 0U);
  const std::vector<std::string> found = warnings(100);
  ASSERT_EQ(found.size(), 1U);
  for (const char* part : {"step 2: the loss has grown from 2.", "learning rate below 100"}) {
    EXPECT_NE(found[0].find(part), std::string::npos) << found[0];
  }
}

TEST(UnitTrain, the_first_report_has_the_first_step_too) {
  const auto each = session_of("mlp"), both = session_of("mlp");
  RandomSource source({.batch = 32, .images = 64}), again({.batch = 32, .images = 64});
  const TrainResult two = train(*each, source, {.report_every = 1});
  const TrainResult one = train(*both, again, {});
  EXPECT_NEAR(one.loss, (two.curve[0].loss + two.curve[1].loss) / 2, 1e-12);
  EXPECT_GT(one.loss, 0);
}

TEST(UnitTrain, weights_that_an_update_broke_are_named) {
  const auto session = session_of("mlp");
  std::vector<float> weights = session->parameter(2);
  weights[7] = std::nanf("");
  session->set_parameter(2, weights);
  RandomSource source({.batch = 32, .images = 32});
  expect_error([&] { train(*session, source, {}); },
               {"step 0", "dense2, whose dense2.weight was not finite before the step"});
  // The diverged step did not change the weights.
  EXPECT_EQ(session->parameter(0), initial_values(session->plan().graph.parameters[0], 0, 1));
}

TEST(UnitTrain, pauses_change_no_entry_of_the_curve) {
  const auto curve = [](std::uint64_t pause_every) {
    const auto session = session_of("mlp");
    RandomSource source({.batch = 32, .images = 320});
    return train(*session, source,
                 {.report_every = 3,
                  .pause_every = pause_every,
                  .pause = [&](std::uint64_t) { session->evaluate_step(); }})
        .curve;
  };
  const auto whole = curve(0), paused = curve(2);
  ASSERT_EQ(paused.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(paused[i].step, whole[i].step);
    EXPECT_NEAR(paused[i].loss, whole[i].loss, 1e-12);
    EXPECT_EQ(paused[i].accuracy, whole[i].accuracy);
  }
}

TEST(UnitTrain, pauses_are_off_the_clock_and_clear_what_they_measured) {
  const auto session = session_of("mlp");
  RandomSource source({.batch = 32, .images = 320});
  std::vector<std::uint64_t> steps;
  const TrainResult result = train(
      *session, source,
      {.first_step = 1, .report_every = 3, .pause_every = 2, .pause = [&](std::uint64_t done) {
         steps.push_back(done);
         session->evaluate_step();  // its metrics must not count in the next window
         std::this_thread::sleep_for(std::chrono::milliseconds(300));
       }});
  EXPECT_EQ(steps, (std::vector<std::uint64_t>{2, 4, 6, 8, 10}));
  EXPECT_EQ(result.images, 320U);
  EXPECT_LT(result.seconds, 1);  // the five pauses take 1.5
  // Windows end at every third step, whatever the pauses.
  std::vector<std::uint64_t> windows;
  for (const auto& progress : result.curve) windows.push_back(progress.step);
  EXPECT_EQ(windows, (std::vector<std::uint64_t>{4, 7, 10, 11}));
}

TEST(UnitEvaluate, changes_no_parameter_and_repeats_itself) {
  const auto session = session_of("mlp");
  const std::vector<float> before = session->parameter(0);
  RandomSource once({.batch = 32, .images = 100}), again({.batch = 32, .images = 100});
  const Evaluation first = evaluate(*session, once), second = evaluate(*session, again);
  EXPECT_EQ(first.images, 100U);
  EXPECT_EQ(first.loss, second.loss);
  EXPECT_EQ(first.accuracy, second.accuracy);
  EXPECT_EQ(session->parameter(0), before);
}

}  // namespace
}  // namespace feedrate::trainer
