#include "tools/lab/measure/verdict_text.h"

#include <gtest/gtest.h>

namespace feedrate::tools {
using namespace loader;

namespace {

/// A device of its own that takes 1,000 images/s and gets `delivered`, on eight cores.
Figures device(double delivered, unsigned threads) {
  return {.supply = Rate{delivered},
          .demand = Rate{1000},
          .delivered = Rate{delivered},
          .threads = threads,
          .most_threads = threads,
          .computing = 1,
          .cores = 8,
          .decode = 1e-3};
}

TEST(UnitVerdictText, a_fed_trainer_is_told_what_loading_costs_and_how_many_threads_are_enough) {
  Figures figures = device(980, 0);
  EXPECT_EQ(finding_text(judge(figures)),
            "The trainer is the limit: loading costs 2.0 % of its time.");
  EXPECT_EQ(advice_text(judge(figures)), "No loader threads are needed.");
  EXPECT_EQ(
      verdict_text(judge(device(1010, 2))),
      "The trainer is the limit: loading costs less than 0.1 % of its time. 2 loader threads are "
      "enough.");
  EXPECT_EQ(advice_text(judge(device(1010, 1))), "1 loader thread is enough.");
}

TEST(UnitVerdictText, a_slow_stage_is_named_with_the_waiting_and_its_share) {
  Figures figures = device(400, 2);
  figures.stall = 0.6;
  figures.read = 0.25e-3;
  EXPECT_EQ(finding_text(judge(figures)),
            "Decoding is the limit: the trainer runs at 40 % of full speed and waits for data 60 % "
            "of the "
            "time. Decoding takes 80 % of loading time.");
  EXPECT_EQ(advice_text(judge(figures)),
            "More loader threads, or images that decode faster (raw, packed, or smaller ones) "
            "would help.");
}

TEST(UnitVerdictText, a_trainer_that_is_not_fed_is_told_the_cores_that_would_feed_it) {
  EXPECT_EQ(unfed_text(0.43, "an emulated h100", {{2, "packed"}, {4.2, "jpeg"}}),
            "This machine reaches 43 % of an emulated h100. Feeding it takes about 5 cores with "
            "jpeg, 2 with "
            "packed.");
  EXPECT_EQ(unfed_text(0.09, "2,500 images/s", {{0.4, ""}}),
            "This machine reaches 9 % of 2,500 images/s. Feeding it takes about 1 core.");
  EXPECT_EQ(unfed_text(0.5, "lenet's full speed", {}),
            "This machine reaches 50 % of lenet's full speed.");
}

TEST(UnitVerdictText, reading_from_a_server_is_the_network) {
  Figures figures = device(400, 2);
  figures.stall = 0.6;
  figures.read = 4e-3;
  figures.remote = true;
  EXPECT_EQ(judge(figures).limit, Limit::network);
  EXPECT_TRUE(finding_text(judge(figures)).starts_with("The network is the limit: "));
  EXPECT_TRUE(advice_text(judge(figures)).starts_with("A faster or nearer server"));
  figures.read = 0;
  EXPECT_EQ(judge(figures).limit, Limit::decode);
}

TEST(UnitVerdictText, the_advice_names_what_is_left_to_try) {
  const auto starts = [](const Figures& figures, std::string_view start) {
    return advice_text(judge(figures)).starts_with(start);
  };
  Figures tried = device(400, 2);
  tried.most_threads = 6;
  EXPECT_TRUE(starts(tried, "Images that decode faster"));
  EXPECT_TRUE(starts(device(400, 7), "More cores, or images"));
  EXPECT_TRUE(starts(device(400, 0), "A loader thread, or images"));
}

TEST(UnitVerdictText, crowded_cores_and_copies_are_explained) {
  Figures crowded = device(850, 1);
  crowded.supply = Rate{18'000};
  crowded.stall = 0.01;
  crowded.computing = crowded.cores = 2;
  EXPECT_EQ(verdict_text(judge(crowded)),
            "The cores are the limit: the trainer runs at 85 % of full speed, because it shares 2 "
            "cores with "
            "the loader. More cores, or images that load faster, would help.");
  Figures copies = device(1000, 2);
  copies.compute = Rate{3000};
  EXPECT_EQ(verdict_text(judge(copies)),
            "Copying to the device is the limit: without copies, the trainer would run 3.0 times "
            "as fast. 2 "
            "loader threads are enough. A faster bus, or fewer bytes per image, would help.");
}

TEST(HostileVerdictText, without_figures_there_is_no_advice) {
  EXPECT_EQ(verdict_text(judge({})),
            "The limit is unclear: neither demand nor stall was measured.");
}

TEST(UnitVerdictText, a_tuning_says_how_many_threads_and_why) {
  Tuning tuning{.threads = 8, .max_threads = 8, .settled = true, .need = 2.6, .tried = {}};
  EXPECT_EQ(tuning_text(tuning), "8 threads: the run was too short to find the best number");
  tuning.tried = {{3, 1000, 0}};
  EXPECT_EQ(tuning_text(tuning), "3 threads keep the trainer busy");
  tuning.settled = false;
  EXPECT_TRUE(tuning_text(tuning).ends_with("busy (the search had not ended)"));
  tuning.settled = true;
  tuning.tried = {{1, 1000, 0.5}};
  EXPECT_EQ(tuning_text(tuning), "1 thread delivers as many images/s as more threads do");
  tuning.max_threads = 1;
  EXPECT_EQ(tuning_text(tuning), "feeding the trainer takes about 3 threads; 1 was allowed");
  tuning.need = 1e6;
  EXPECT_EQ(tuning_text(tuning), "1 thread, the most allowed, delivers the most images/s");
}

}  // namespace
}  // namespace feedrate::tools
