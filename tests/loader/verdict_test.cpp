#include "loader/verdict.h"

#include <gtest/gtest.h>

namespace feedrate::loader {
namespace {

LoaderStats stats_of(double read, double decode, double augment, double wait) {
  LoaderStats stats;
  stats.images = 1000;
  stats.busy_read = read;
  stats.busy_decode = decode;
  stats.busy_augment = augment;
  stats.wait_seconds = wait;
  stats.alive_seconds = 10;
  return stats;
}

/// A device of its own that takes 1,000 images/s and gets `delivered`, on eight cores.
Figures device(double delivered, double supply, unsigned threads) {
  return {.supply = Rate{supply},
          .demand = Rate{1000},
          .delivered = Rate{delivered},
          .threads = threads,
          .most_threads = threads,
          .computing = 1,
          .cores = 8,
          .decode = 1e-3};
}

/// The same on a CPU that shares its two cores with the loader.
Figures cpu(double delivered, double supply, unsigned threads) {
  Figures figures = device(delivered, supply, threads);
  figures.computing = figures.cores = 2;
  return figures;
}

TEST(UnitVerdict, a_trainer_that_gets_all_it_can_take_within_the_noise_is_the_limit) {
  Figures figures = cpu(980, 18'000, 0);
  figures.demand->spread = 0.04;
  figures.stall = 0.06;  // its own loading, no waiting
  const Verdict verdict = judge(figures);
  EXPECT_EQ(verdict.limit, Limit::trainer);
  EXPECT_EQ(verdict.remedy, Remedy::none);
  EXPECT_TRUE(is_fed(verdict.limit));
  EXPECT_EQ(judge(cpu(1010, 18'000, 2)).limit, Limit::trainer);
}

TEST(UnitVerdict, where_more_was_delivered_than_demanded_the_stall_tells_the_limit) {
  Figures figures = device(1500, 1550, 2);
  EXPECT_EQ(judge(figures).limit, Limit::unknown);
  figures.stall = 0.01;
  EXPECT_EQ(judge(figures).limit, Limit::trainer);
  figures.stall = 0.4;
  EXPECT_EQ(judge(figures).limit, Limit::decode);
  EXPECT_NEAR(judge(figures).demand->value, 2500, 1);
}

TEST(UnitVerdict, loading_that_costs_at_most_a_tenth_is_not_the_bottleneck) {
  EXPECT_EQ(judge(device(920, 930, 2)).limit, Limit::trainer);
  EXPECT_NEAR(judge(device(920, 930, 2)).loss.value(), 0.08, 1e-9);
  EXPECT_EQ(judge(device(880, 890, 2)).limit, Limit::decode);
}

// The stall was measured within the run; demand in another, when the machine was faster or slower.
TEST(UnitVerdict, a_stall_outweighs_rates_of_different_runs) {
  Figures figures = device(700, 1800, 2);
  figures.stall = 0.02;
  EXPECT_EQ(judge(figures).limit, Limit::trainer);
  figures.stall = 0.3;
  figures.delivered = Rate{990};
  EXPECT_EQ(judge(figures).loss, 0.3);
}

TEST(UnitVerdict, a_loader_that_shares_the_trainers_cores_costs_its_share_of_cpu_time) {
  Figures figures = cpu(1000, 18'000, 1);
  figures.stall = 0.01;
  figures.delivered->spread = 0.5;
  EXPECT_EQ(judge(figures).limit, Limit::trainer);
  figures.trainer_cpu = 2e-3;
  figures.loader_cpu = 0.5e-3;
  EXPECT_EQ(judge(figures).limit, Limit::cores);
  EXPECT_DOUBLE_EQ(judge(figures).loss.value(), 0.2);
  figures.computing = 1;  // it drives a device, which takes no CPU time
  EXPECT_EQ(judge(figures).limit, Limit::trainer);
}

TEST(UnitVerdict, a_loader_slower_than_the_trainer_is_the_limit_in_its_longest_stage) {
  Figures figures = device(400, 410, 2);
  figures.stall = 0.6;
  figures.read = 0.25e-3;
  EXPECT_EQ(judge(figures).limit, Limit::decode);
  EXPECT_FALSE(is_fed(judge(figures).limit));
  figures.read = 2e-3;
  EXPECT_EQ(judge(figures).limit, Limit::read);
  figures.augment = 3e-3;
  EXPECT_EQ(judge(figures).limit, Limit::augment);
  figures.read = figures.decode = figures.augment = 0;
  EXPECT_EQ(judge(figures).limit, Limit::loader);
}

TEST(UnitVerdict, the_remedy_depends_on_what_is_left_to_try) {
  Figures figures = device(400, 410, 2);
  EXPECT_EQ(judge(figures).remedy, Remedy::threads);
  figures.most_threads = 6;
  EXPECT_EQ(judge(figures).remedy, Remedy::none);
  EXPECT_EQ(judge(device(400, 410, 7)).remedy, Remedy::cores);
  EXPECT_EQ(judge(device(400, 660, 0)).remedy, Remedy::first_thread);
}

TEST(UnitVerdict, a_loader_fast_enough_alone_but_not_beside_the_trainer_lacks_cores) {
  Figures figures = cpu(850, 18'000, 1);
  figures.stall = 0.001;
  EXPECT_EQ(judge(figures).limit, Limit::cores);
  figures.stall = 0.1;  // it waits, because the loader gets no core
  EXPECT_EQ(judge(figures).limit, Limit::cores);
  EXPECT_EQ(judge(figures).remedy, Remedy::cores);
  figures.cores = 8;
  figures.stall = 0.12;
  EXPECT_EQ(judge(figures).limit, Limit::decode);  // it waits, though there are cores
  figures.stall = 0.001;
  EXPECT_EQ(judge(figures).limit, Limit::trainer);  // it is slower, but neither waits nor shares
}

TEST(UnitVerdict, without_threads_loading_is_work_that_only_a_thread_would_overlap) {
  EXPECT_EQ(judge(device(600, 1500, 0)).limit, Limit::decode);
  Figures tried = cpu(600, 1500, 0);
  tried.most_threads = 4;  // no faster, so threads only move the work to other cores
  EXPECT_EQ(judge(tried).limit, Limit::cores);
}

TEST(UnitVerdict, copies_are_the_limit_where_the_device_would_take_more_without_them) {
  Figures figures = device(1000, 18'000, 2);
  figures.compute = Rate{1050};  // what is left of copies that overlap
  EXPECT_EQ(judge(figures).limit, Limit::trainer);
  figures.compute = Rate{3000};
  EXPECT_EQ(judge(figures).limit, Limit::upload);
  EXPECT_TRUE(is_fed(Limit::upload));
}

TEST(UnitVerdict, without_demand_the_stall_says_what_the_trainer_could_take) {
  Figures figures = device(400, 410, 2);
  figures.demand.reset();
  figures.stall = 0.6;
  EXPECT_EQ(judge(figures).limit, Limit::decode);
  EXPECT_DOUBLE_EQ(judge(figures).demand->value, 1000);
  figures.stall = 0.02;
  EXPECT_EQ(judge(figures).limit, Limit::trainer);
  figures.stall.reset();
  EXPECT_EQ(judge(figures).limit, Limit::unknown);
  EXPECT_EQ(judge({}).limit, Limit::unknown);
}

TEST(UnitVerdict, a_loaders_counters_give_supply_and_demand) {
  const Figures figures = figures_of(stats_of(2, 16, 2, 9), 2);
  EXPECT_DOUBLE_EQ(figures.supply->value, 100);   // 20 s of two workers for 1,000 images
  EXPECT_DOUBLE_EQ(figures.demand->value, 1000);  // one second outside next()
  EXPECT_DOUBLE_EQ(figures.delivered->value, 100);
  EXPECT_EQ(judge(figures).limit, Limit::decode);
  EXPECT_EQ(judge(figures_of(stats_of(1, 3, 0, 0.1), 2)).limit, Limit::trainer);
  EXPECT_DOUBLE_EQ(figures_of(stats_of(1, 3, 0, 4), 0).supply->value, 250);
}

TEST(HostileVerdict, zeros_and_rates_without_meaning_give_no_limit_and_no_nan) {
  EXPECT_FALSE(figures_of({}, 2).supply);
  for (const double rate : {0.0, 1.0}) {
    Figures figures = device(rate, 0, 1);
    figures.demand = Rate{0};
    EXPECT_EQ(judge(figures).limit, Limit::unknown);
    EXPECT_FALSE(judge(figures).demand);
  }
}

}  // namespace
}  // namespace feedrate::loader
