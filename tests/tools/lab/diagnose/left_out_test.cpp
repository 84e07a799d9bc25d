// What `feedrate diagnose` leaves out of a loop: pauses, and loops inside its steps. The figures are made up.

#include <gtest/gtest.h>

#include "tests/tools/lab/diagnose/made.h"
#include "tools/lab/diagnose/diagnosis.h"
#include "tools/lab/diagnose/left_out.h"

namespace feedrate::tools {
namespace {

using testing::MadeLoop;

/// Forty steps of 10 ms, one of which holds a loop over another loader: 30 steps that take 0.3 s.
Seen with_a_loop_inside(std::uint64_t thread, bool left, double later) {
  Seen seen = MadeLoop{.wait = 0.0001}.seen();
  const std::vector<StepBegun> steps = seen.loaders.begin()->second.epochs.front().steps;
  for (StepBegun& step : seen.loaders.begin()->second.epochs.front().steps) {
    if (step.begin > steps[20].begin) step.begin += 0.3, step.end += 0.3;
  }
  *seen.loaders.begin()->second.epochs.front().ended += 0.3;
  const double begin = steps[20].end + later;
  Epoch inner{{begin, begin, thread}, {}, begin + 0.3, {}};
  for (int i = 0; i < 30; ++i) {
    inner.steps.push_back({.begin = begin + 0.01 * i, .end = begin + 0.01 * i});
  }
  if (left) inner.ended.reset();
  LoaderSeen& other = seen.loaders[{1, 2}];
  other.process = 1;
  other.steps = 30;
  other.epochs.push_back(inner);
  return seen;
}

TEST(UnitDiagnoseLoop, a_loop_over_another_loader_is_no_part_of_a_step) {
  const double without = diagnose(MadeLoop{.wait = 0.0001}.seen(), {"x"}, 4).loops.front().time;
  for (const bool left : {false, true}) {
    const Seen seen = with_a_loop_inside(0, left, 0);
    const Loop loop =
        loop_of(seen.loaders.at({1, 1}), OtherLoops(seen).left_out_of(seen.loaders.at({1, 1})));
    EXPECT_NEAR(loop.time, without, 1e-6) << left;
    EXPECT_NEAR(loop.others, 0.3, 1e-6);
    const Loop inner =
        loop_of(seen.loaders.at({1, 2}), OtherLoops(seen).left_out_of(seen.loaders.at({1, 2})));
    EXPECT_EQ(inner.others, 0);
    const Diagnosis found = diagnose(seen, {"x"}, 4);
    EXPECT_NE(
        found.text(200).find("Not counted: 300.0 ms inside its steps, in loops over other loaders"),
        std::string::npos)
        << found.text(200);
  }
  const auto others = [](const Seen& seen) {
    return OtherLoops(seen).left_out_of(seen.loaders.at({1, 1})).others;
  };
  EXPECT_EQ(others(with_a_loop_inside(5, false, 0)), 0) << "another thread's";
  EXPECT_EQ(others(with_a_loop_inside(0, false, 0.02)), 0) << "it went on after the step";
}

TEST(UnitDiagnoseLoop, a_batch_of_another_loader_in_each_step_belongs_to_it) {
  Seen seen = MadeLoop{.wait = 0.0001}.seen();
  const std::vector<StepBegun> steps = seen.loaders.begin()->second.epochs.front().steps;
  LoaderSeen& other = seen.loaders[{1, 2}];
  other.process = 1;
  const auto left_out = [&] {
    return OtherLoops(seen).left_out_of(seen.loaders.at({1, 1})).others;
  };
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    const double begin = steps[i].end;
    other.epochs.push_back({{begin, begin}, {{.begin = begin, .end = begin + 0.004}}, {}, {}});
    if (i == 2) {
      EXPECT_NEAR(left_out(), 0.012, 1e-9) << "in some steps only";
    }
  }
  EXPECT_EQ(left_out(), 0);
}

TEST(UnitDiagnoseLoop, waiting_for_a_loader_beside_this_one_is_no_part_of_a_step) {
  Seen seen = MadeLoop{.wait = 0.0001}.seen();
  const double alone = diagnose(seen, {"x"}, 4).loops.front().time;
  Epoch& epoch = seen.loaders.begin()->second.epochs.front();
  LoaderSeen& other = seen.loaders[{1, 2}];
  other.process = 1;
  other.made.where = "train.py:40";
  other.epochs.push_back({{epoch.begun.begin, epoch.begun.end}, {}, {}, {}});
  // As zip() does, each step takes a batch of the other one, too, and waits 30 ms for it.
  double later = 0;
  for (StepBegun& step : epoch.steps) {
    step.begin += later, step.end += later;
    other.epochs.front().steps.push_back({.begin = step.end, .end = step.end + 0.03});
    later += 0.03;
  }
  *epoch.ended += later;
  other.epochs.front().ended = epoch.ended;
  other.steps = epoch.steps.size();
  other.made.batch = 10;
  const Diagnosis found = diagnose(seen, {"x"}, 4);
  EXPECT_EQ(found.loops.front().made.where, "train.py:40") << "the loop waits for that one";
  EXPECT_GT(found.loops.front().wait_share(), 0.7);
  EXPECT_NEAR(found.loops.back().time, alone, 0.04 * alone);
  EXPECT_LT(found.loops.back().wait_share(), 0.1);
}

TEST(UnitDiagnoseLoop, a_pause_of_another_process_is_none_unless_they_train_together) {
  Seen seen = MadeLoop{}.seen();
  seen.pauses[2].push_back({100, 101});
  LoaderSeen& loader = seen.loaders.begin()->second;
  EXPECT_EQ(OtherLoops(seen).left_out_of(loader).within(99, 102), 0);
  loader.rank = 0;
  EXPECT_EQ(OtherLoops(seen).left_out_of(loader).within(99, 102), 1);
  seen.pauses[1].push_back({100.5, 101.5});
  EXPECT_EQ(OtherLoops(seen).left_out_of(loader).within(99, 102), 1.5) << "counted once";
}

}  // namespace
}  // namespace feedrate::tools
