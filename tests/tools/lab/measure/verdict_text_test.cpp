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

TEST(UnitVerdictText, a_fed_trainer_gets_its_share_and_has_enough_threads) {
  Figures figures = device(980, 0);
  EXPECT_EQ(finding_text(judge(figures)),
            "The trainer is the limit: it gets 98 % of what it can take.");
  EXPECT_EQ(advice_text(judge(figures)), "No loader threads are needed.");
  figures.demand->spread = 0.04;
  EXPECT_EQ(finding_text(judge(figures)),
            "The trainer is the limit: it gets 98 % of what it can take, within the noise.");
  EXPECT_EQ(verdict_text(judge(device(1010, 2))),
            "The trainer is the limit: it gets all that it can take. 2 loader threads are enough.");
  EXPECT_EQ(advice_text(judge(device(1010, 1))), "1 loader thread is enough.");
}

TEST(UnitVerdictText, a_slow_stage_is_named_with_the_waiting_and_its_share) {
  Figures figures = device(400, 2);
  figures.stall = 0.6;
  figures.read = 0.25e-3;
  EXPECT_EQ(finding_text(judge(figures)),
            "Decoding is the limit: the trainer gets 40 % of what it can take; it waits for data "
            "60.0 % of the time; 80 % of the loading time goes there.");
  EXPECT_EQ(advice_text(judge(figures)),
            "More loader threads, or images that decode faster (raw, packed, or smaller ones) "
            "would help.");
}

TEST(UnitVerdictText, reading_from_a_server_is_the_network) {
  Figures figures = device(400, 2);
  figures.stall = 0.6;
  figures.read = 4e-3;
  figures.remote = true;
  EXPECT_EQ(judge(figures).limit, Limit::network);
  EXPECT_TRUE(finding_text(judge(figures)).starts_with("The network is the limit: "));
  EXPECT_TRUE(advice_text(judge(figures))
                  .starts_with("More loader threads would not help; a faster or nearer server"));
  figures.read = 0;
  EXPECT_EQ(judge(figures).limit, Limit::decode);
}

TEST(UnitVerdictText, the_advice_names_what_is_left_to_try) {
  const auto starts = [](const Figures& figures, std::string_view start) {
    return advice_text(judge(figures)).starts_with(start);
  };
  Figures tried = device(400, 2);
  tried.most_threads = 6;
  EXPECT_TRUE(starts(tried, "More loader threads would not help; images"));
  EXPECT_TRUE(starts(device(400, 7), "More cores, or images"));
  EXPECT_TRUE(starts(device(400, 0), "A loader thread, or images"));
}

TEST(UnitVerdictText, crowded_cores_and_copies_are_explained) {
  Figures crowded = device(900, 1);
  crowded.supply = Rate{18'000};
  crowded.computing = crowded.cores = 2;
  EXPECT_EQ(verdict_text(judge(crowded)),
            "The cores are the limit: the trainer gets 90 % of what it can take, though the loader "
            "alone would be fast enough: both share 2 cores. More cores, or images that load "
            "faster, would help.");
  Figures copies = device(1000, 2);
  copies.compute = Rate{3000};
  EXPECT_EQ(verdict_text(judge(copies)),
            "Copying to the device is the limit: the trainer gets all that it can take, but would "
            "take 3.0 times as many images/s without copies. 2 loader threads are enough. A faster "
            "bus or fewer bytes for each image would help.");
}

TEST(HostileVerdictText, without_figures_there_is_no_advice) {
  EXPECT_EQ(verdict_text(judge({})),
            "What the limit is remains open: neither demand nor waiting was measured.");
}

TEST(UnitVerdictText, a_tuning_says_how_many_threads_and_why) {
  Tuning tuning{.threads = 8, .max_threads = 8, .settled = true, .need = 2.6, .tried = {}};
  EXPECT_EQ(tuning_text(tuning), "8 threads: the run was too short to find the best number");
  tuning.tried = {{3, 1000, 0}};
  EXPECT_EQ(tuning_text(tuning),
            "3 threads keep the consumer fed, which needs 2.6; a 4th gains nothing");
  tuning.settled = false;
  EXPECT_TRUE(tuning_text(tuning).ends_with("nothing (the search had not ended)"));
  tuning.settled = true;
  tuning.tried = {{1, 1000, 0.5}};
  EXPECT_EQ(tuning_text(tuning),
            "1 thread gives as many images/s as more do: the bottleneck is elsewhere");
  tuning.max_threads = 1;
  EXPECT_EQ(tuning_text(tuning),
            "1 thread, the limit, gives the most images/s; the consumer needs 2.6");
  tuning.need = 1e6;
  EXPECT_EQ(tuning_text(tuning), "1 thread, the limit, gives the most images/s");
}

}  // namespace
}  // namespace feedrate::tools
