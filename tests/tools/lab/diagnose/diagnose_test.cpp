// `feedrate diagnose`: what is predicted, which causes are named. The figures are made up.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/tools/lab/diagnose/made.h"
#include "tools/lab/diagnose/diagnosis.h"

namespace feedrate::tools {
namespace {

using testing::MadeLoop;

Diagnosis of(const MadeLoop& loop, double cores = 4) {
  return diagnose(loop.seen(), {"python", "train.py"}, cores);
}

std::vector<std::string> causes(const MadeLoop& loop, double cores = 4) {
  std::vector<std::string> names;
  for (const Cause& cause : of(loop, cores).causes) names.emplace_back(name(cause.kind));
  return names;
}
std::string first(const MadeLoop& loop, double cores = 4) {
  const std::vector<std::string> names = causes(loop, cores);
  return names.empty() ? "" : names.front();
}

TEST(UnitDiagnoseLoop, waits_and_steps_are_told_apart) {
  const Loop loop = of({.wait = 0.03}).loops.front();
  EXPECT_NEAR(loop.wait_share(), 0.75, 0.01);
  EXPECT_NEAR(loop.delivered(), 10 / 0.04, 1);
  EXPECT_NEAR(loop.demand(), 10 / 0.01, 1);
  EXPECT_EQ(loop.unwaited, 0U) << "all waited";
  EXPECT_GT(of({.wait = 0.0001}).loops.front().unwaited, 20U);
}

/// 200 steps with 2 workers. Nine of ten take 5 ms and wait for 13 ms, the tenth takes 0.6 s, and fills the queue.
Seen uneven() {
  Seen seen = MadeLoop{.workers = 1}.seen();
  LoaderSeen& loader = seen.loaders.begin()->second;
  loader.epochs.assign(1, {});
  double now = 100;
  for (int i = 0; i < 200; ++i) {
    const double wait = i % 10 < 2 ? 0.0001 : 0.013, step = i % 10 == 9 ? 0.6 : 0.005;
    loader.epochs.front().steps.push_back({.begin = now, .end = now + wait});
    now += wait + step;
  }
  loader.epochs.front().ended = now;
  return seen;
}

TEST(UnitDiagnoseLoop, steps_that_differ_are_told_by_their_mean) {
  const Diagnosis found = diagnose(uneven(), {"python", "train.py"}, 4);
  const Loop& loop = found.loops.front();
  EXPECT_NEAR(loop.demand(), loop.delivered() / (1 - loop.wait_share()), 1);
  ASSERT_FALSE(found.causes.empty());
  for (const Cause& cause : found.causes) EXPECT_LE(cause.gain, 1 / (1 - loop.wait_share()));
}

TEST(UnitDiagnoseCauses, no_gain_is_more_than_the_waits) {
  for (const double wait : {0.005, 0.02, 0.2}) {
    for (const std::uint64_t workers : {0, 1, 4}) {
      const Diagnosis found =
          of({.workers = workers, .step = 0.02, .wait = wait, .start = wait}, 16);
      const double most = 1 / (1 - found.loops.front().wait_share());
      for (const Cause& cause : found.causes) EXPECT_LE(cause.gain, most + 1e-9) << cause.what;
    }
  }
}

TEST(UnitDiagnoseCauses, large_gains_have_no_exponent) {
  EXPECT_EQ(times_text(1.234), "1.2");
  EXPECT_EQ(times_text(99.7), "100");
  EXPECT_EQ(times_text(251.2), "251");
}

TEST(UnitDiagnoseLoop, an_iterator_for_each_step_is_a_loop_too) {
  LoaderSeen seen;
  seen.made.batch = 10;
  for (int i = 0; i <= 20; ++i) {
    seen.epochs.push_back({{0.04 * i, 0.04 * i + 0.001}, {}, {}, {}});
    seen.epochs.back().steps.push_back({.begin = 0.04 * i + 0.001, .end = 0.04 * i + 0.03});
  }
  EXPECT_EQ(loop_of(seen, {}).counted, 17U) << "of the last one the end is not known";
  EXPECT_NEAR(loop_of(seen, {}).wait_share(), 0.75, 0.01);
  seen.epochs.back().steps.push_back({.begin = 1, .end = 2});
  EXPECT_EQ(loop_of(seen, {}).counted, 1U) << "others were left, and what followed is not known";
}

TEST(UnitDiagnoseLoop, what_a_batch_costs_is_of_those_timed_in_full) {
  Work work;
  for (int i = 0; i < 20; ++i) {
    BatchMade made{.begin = 1.0 * i, .end = i + 0.1, .full = i % 4 == 0};
    if (made.full) {
      made.samples = 8;
      made.cpu = 0.06;
      made.delay = 0.01;
      made.put_cpu = 0.006;
      made.puts = 3;
    }
    work.add(made);
  }
  work.batches[5].end += 0.5;
  const Service service = service_of(work);
  EXPECT_DOUBLE_EQ(service.samples, 8);
  EXPECT_DOUBLE_EQ(service.cpu, 0.06);
  EXPECT_DOUBLE_EQ(service.put, 0.002) << "of one";
  EXPECT_NEAR(service.wall, 0.125, 1e-9) << "of all";
  EXPECT_NEAR(service.blocked, 0.055, 1e-9);
  EXPECT_NEAR(service.outliers, 0.5, 1e-9);
}

TEST(UnitDiagnoseLoop, the_first_batch_of_a_process_is_not_typical) {
  const auto with = [](bool others) {
    Work work;
    BatchMade first{.begin = 0, .end = 2, .samples = 8, .cpu = 2, .first = true};
    first.spans = {{"getitem", {2, 2, 8}}};
    work.add(first);
    BatchMade next{.begin = 2, .end = 2.1, .samples = 8, .cpu = 0.1};
    next.spans = {{"decode", {0.1, 0.1, 8}}};
    if (others) work.add(next);
    work.settle();
    return service_of(work);
  };
  EXPECT_NEAR(with(true).cpu, 0.1, 1e-9);
  ASSERT_EQ(with(true).stages.size(), 1U);
  EXPECT_EQ(with(true).stages.front().name, "decode");
  EXPECT_NEAR(with(false).cpu, 2, 1e-9) << "there is nothing else";
  EXPECT_EQ(with(false).stages.front().name, "getitem");
}

TEST(UnitDiagnoseLoop, steps_timed_in_part_waited_for_processors_like_the_others) {
  LoaderSeen seen;
  Epoch epoch;
  epoch.ended = 40;
  for (int i = 0; i < 40; ++i) {
    StepBegun step{.begin = 1.0 * i, .end = i + 0.4, .full = i % 2 == 0};
    if (step.full) {
      step.delay = 0.1;
      step.cpu = 0.01;
      step.process = 1 + i * 0.21;
    }
    epoch.steps.push_back(step);
  }
  seen.made.workers = 2;
  seen.epochs.push_back(epoch);
  const Loop loop = loop_of(seen, {});
  EXPECT_NEAR(loop.waited, 37 * 0.3, 1e-9);
  EXPECT_NEAR(loop.step_cpu, 0.2, 1e-9);
  EXPECT_NEAR(loop.receive, 0.01, 1e-9);
}

TEST(UnitDiagnoseLoop, a_pause_is_no_wait) {
  Seen seen = MadeLoop{}.seen();
  const double without = of(MadeLoop{}).loops.front().time;
  const auto& steps = seen.loaders.begin()->second.epochs.front().steps;
  seen.pauses[1].push_back({steps[10].end, steps[10].end + 0.005});
  EXPECT_NEAR(diagnose(seen, {"x"}, 4).loops.front().time, without - 0.005, 1e-9);
}

TEST(UnitDiagnoseCurve, grows_with_workers_until_the_cores_are_busy) {
  const Costs costs{.samples = 10, .cpu = 0.1, .cores = 4};
  EXPECT_DOUBLE_EQ(costs.rate(0), 100);
  EXPECT_DOUBLE_EQ(costs.rate(1), 100);
  EXPECT_DOUBLE_EQ(costs.rate(4), 400);
  EXPECT_DOUBLE_EQ(costs.rate(8), 400);
}

TEST(UnitDiagnoseCurve, a_step_takes_time_and_cores) {
  Costs costs{.samples = 10, .cpu = 0.1, .step = 0.1, .cores = 4};
  EXPECT_DOUBLE_EQ(costs.delivered(0), 50) << "one after the other";
  EXPECT_DOUBLE_EQ(costs.delivered(8), 100) << "all that the loop takes";
  costs.step_cpu = 0.4;
  EXPECT_DOUBLE_EQ(costs.delivered(8), 80) << "0.5 s of work on 4 cores";
}

TEST(UnitDiagnoseCurve, workers_that_wait_for_storage_need_no_cores) {
  const Costs costs{.samples = 10, .cpu = 0.01, .blocked = 0.09, .step = 0.0125, .cores = 2};
  EXPECT_DOUBLE_EQ(costs.rate(8), 800);
  EXPECT_EQ(enough_workers(costs, 16), 8U);
}

TEST(UnitDiagnoseCurve, the_loop_takes_batches_one_at_a_time) {
  const Costs costs{.samples = 10, .cpu = 0.1, .receive = 0.05, .cores = 64};
  EXPECT_DOUBLE_EQ(costs.rate(64), 200);
}

TEST(UnitDiagnoseLoop, a_wait_in_the_batches_whose_parts_were_timed_takes_nothing_from_the_parts) {
  Work work;
  for (int i = 0; i < 8; ++i) {
    BatchMade made{.end = 0.01, .samples = 1, .cpu = 0.01};
    if (i == 3) {
      made.end = 0.05;
      made.delay = 0.04;
      made.spans = {{"decode", {0.044, 0.008, 1}}, {"getitem", {0.006, 0.002, 1}}};
    }
    work.add(made);
  }
  const Service service = service_of(work);
  EXPECT_NEAR(service.stages.front().cpu, 0.008, 1e-9);
  EXPECT_NEAR(service.stages.back().cpu, 0.002, 1e-9);
}

TEST(UnitDiagnoseCauses, a_loop_that_hardly_waits_is_left_alone) {
  EXPECT_EQ(causes({.step = 0.05, .wait = 0.0005}), std::vector<std::string>{"model"});
}

TEST(UnitDiagnoseCauses, too_few_workers) {
  const Diagnosis found = of({.workers = 1, .step = 0.02, .wait = 0.05}, 4);
  ASSERT_FALSE(found.causes.empty());
  EXPECT_EQ(found.causes.front().kind, CauseKind::too_few_workers);
  EXPECT_EQ(found.causes.front().change, "num_workers=4");
  EXPECT_NEAR(found.causes.front().gain, 3.5, 0.01);
  EXPECT_EQ(first({.workers = 0, .step = 0.02, .wait = 0.07}), "too-few-workers");
}

TEST(UnitDiagnoseCauses, the_largest_part_of_a_sample) {
  MadeLoop loop{.workers = 4, .step = 0.005, .wait = 0.0125};
  loop.spans = {{"decode", {0.05, 0.05, 10}}, {"getitem", {0.02, 0.02, 10}}};
  EXPECT_EQ(causes(loop), std::vector<std::string>{"decoding"});
  loop.spans = {{"own:Blur:train.py:8", {0.05, 0.05, 10}}, {"getitem", {0.02, 0.02, 10}}};
  const Diagnosis found = of(loop);
  EXPECT_EQ(found.causes.front().kind, CauseKind::transform);
  EXPECT_EQ(found.causes.front().where, "train.py:8");
  EXPECT_EQ(found.causes.back().kind, CauseKind::format) << "nothing is decoded";
  loop.spans = {{"collate", {0.05, 0.05, 1}}, {"getitem", {0.02, 0.02, 10}}};
  EXPECT_EQ(first(loop), "slow-collate");
  loop.spans = {{"getitem", {0.07, 0.07, 10}}};
  EXPECT_EQ(first(loop), "your-code");
}

TEST(UnitDiagnoseCauses, workers_that_share_too_few_cores) {
  EXPECT_EQ(first({.workers = 8, .step = 0.005, .wait = 0.03, .cpu = 0.07, .delay = 0.21}, 2),
            "more-workers-than-cores");
}

TEST(UnitDiagnoseCauses, workers_that_start_anew_in_each_epoch) {
  MadeLoop loop{.epochs = 10, .steps = 10, .step = 0.02, .wait = 0.0001, .start = 0.5, .cpu = 0.02};
  EXPECT_EQ(causes(loop), std::vector<std::string>{"workers-restarted"});
  loop.persistent = true;
  EXPECT_NE(first(loop), "workers-restarted");
  loop.start_method = "spawn";
  loop.start = 3;
  loop.worker_start = 2.5;
  EXPECT_EQ(causes(loop), std::vector<std::string>{"slow-spawn"});
}

TEST(UnitDiagnoseCauses, spawned_workers_import_torch_whatever_the_script_imports) {
  MadeLoop loop{.epochs = 10, .steps = 10, .step = 0.02, .wait = 0.0001, .start = 3, .cpu = 0.02};
  loop.start_method = "spawn";
  loop.worker_start = 2.5;
  loop.torch = 2;
  EXPECT_EQ(causes(loop), std::vector<std::string>{"workers-restarted"});
  loop.torch = 1;
  EXPECT_EQ(causes(loop), std::vector<std::string>{"slow-spawn"});
}

TEST(UnitDiagnoseCauses, waits_for_storage) {
  MadeLoop loop{.workers = 4, .step = 0.005, .wait = 0.0125, .cpu = 0.01, .blocked = 0.06};
  loop.read = 1 << 20;
  loop.spans = {{"getitem", {0.07, 0.01, 10}}};
  EXPECT_EQ(first(loop), "slow-storage");
  loop.read = 0;
  EXPECT_NE(first(loop), "slow-storage") << "it read nothing";
}

TEST(UnitDiagnoseCauses, one_slow_sample_holds_up_the_others) {
  EXPECT_EQ(first({.workers = 4, .step = 0.03, .wait = 0.02, .cpu = 0.02, .slow_wall = 0.4}),
            "slow-sample");
}

TEST(UnitDiagnoseCauses, what_moves_between_processes) {
  MadeLoop many{
      .workers = 4, .step = 0.005, .wait = 0.02, .cpu = 0.01, .put = 0.01, .receive = 0.015};
  many.tensors = 200;
  EXPECT_EQ(first(many), "many-small-tensors");
  MadeLoop floats{.workers = 4, .step = 0.001, .wait = 0.02, .cpu = 0.08};
  floats.bytes = floats.float_bytes = 10 << 20;
  floats.spans = {{"getitem", {0.02, 0.02, 10}}, {"collate", {0.06, 0.06, 1}}};
  EXPECT_EQ(first(floats), "float32");
  floats.own_collate = true;
  EXPECT_EQ(first(floats), "slow-collate");
  EXPECT_EQ(first({.workers = 4, .step = 0.005, .wait = 0.02, .cpu = 0.01, .pin = 0.022}),
            "pinning");
}

TEST(UnitDiagnose, says_why_there_is_nothing_to_say) {
  const auto problem = [](const Seen& seen, const std::vector<std::string>& command) {
    return diagnose(seen, command, 2).problem;
  };
  Seen seen;
  EXPECT_NE(problem(seen, {"python", "-I", "x.py"}).find("-I"), std::string::npos);
  EXPECT_NE(problem(seen, {"make"}).find("make started no Python"), std::string::npos);
  seen.add({1, 0, PythonStarted{"3.9.1", "x"}});
  EXPECT_NE(problem(seen, {"python"}).find("3.9.1"), std::string::npos);
  seen.add({1, 0, TorchSeen{"2.6.0"}});
  EXPECT_NE(problem(seen, {"python"}).find("wrap"), std::string::npos);
  EXPECT_NE(of({.steps = 5}).problem.find("too few"), std::string::npos);
}

TEST(UnitDiagnose, prints_the_verdict_first) {
  Seen seen = MadeLoop{}.seen();
  seen.loaders.begin()->second.sweep.points = {{.workers = 1, .batches = 100, .time = 7}};
  const Diagnosis found = diagnose(seen, {"python", "train.py"}, 4);
  const std::string text = found.text(80);
  EXPECT_TRUE(text.starts_with("The loader is the limit")) << text;
  EXPECT_NE(text.find("train.py:31: num_workers="), std::string::npos) << text;
  EXPECT_NE(text.find("workers    predicted     measured"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(found.json());
  EXPECT_EQ(json.at("limit"), "loader");
  EXPECT_EQ(json.at("command"), "python train.py");
}

TEST(UnitDiagnoseRestart, tries_powers_of_two_up_to_the_cores) {
  EXPECT_EQ(numbers_of_workers(1), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(numbers_of_workers(2), (std::vector<std::uint64_t>{0, 1, 2}));
  EXPECT_EQ(numbers_of_workers(5.5), (std::vector<std::uint64_t>{0, 1, 2, 4, 6}));
}

TEST(UnitDiagnoseRestart, tells_what_the_loop_did_with_other_workers) {
  const MadeLoop one{.workers = 1, .step = 0.02, .wait = 0.05};
  Diagnosis found = of(one, 4);
  const MadeLoop four{.workers = 4, .step = 0.02, .wait = 0.005};
  found.restarts = {restarted(found, 4, four.seen()),
                    restarted(found, 2, MadeLoop{.workers = 2, .steps = 5}.seen())};
  const Restarted& better = found.restarts.front();
  EXPECT_NEAR(better.predicted, 500, 1) << "a step of 20 ms takes 10 samples";
  EXPECT_NEAR(*better.delivered, 400, 5);
  EXPECT_NEAR(*better.wait_share, 0.2, 0.01);
  EXPECT_FALSE(found.restarts.back().delivered);
  const std::string text = found.text(100);
  EXPECT_NE(text.find("it took fewer than 8 steps of this loop"), std::string::npos) << text;
  EXPECT_NE(text.find("where the command was started again"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(found.json()).at("restarts");
  EXPECT_EQ(json.at(0).at("workers"), 4);
  EXPECT_TRUE(json.at(1).at("delivered").is_null());
}

TEST(UnitDiagnoseRanks, the_slowest_rank_and_its_cause_are_one_sentence) {
  Seen seen = MadeLoop{.step = 0.039, .wait = 0.001}.seen();
  LoaderSeen& fast = seen.loaders.begin()->second;
  fast.rank = 0;
  LoaderSeen slow = MadeLoop{.step = 0.01, .wait = 0.03}.seen().loaders.begin()->second;
  slow.rank = 1;
  seen.loaders[{2, 1}] = slow;
  const Diagnosis found = diagnose(seen, {"torchrun", "train.py"}, 4);
  EXPECT_TRUE(found.text(200).starts_with(
      "Rank 1 of 2 holds up the others: it waits for data 75 % of its time, they 3 %; the cause "
      "there is too-few-workers."))
      << found.text(200);
  const auto json = nlohmann::json::parse(found.json()).at("slowest_rank");
  EXPECT_EQ(json.at("rank"), 1);
  EXPECT_EQ(json.at("cause"), "too-few-workers");
  seen.loaders[{2, 1}] = fast;
  seen.loaders[{2, 1}].rank = 1;
  EXPECT_FALSE(diagnose(seen, {"torchrun"}, 4).slowest) << "they wait alike";
}

}  // namespace
}  // namespace feedrate::tools
