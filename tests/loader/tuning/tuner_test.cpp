#include "loader/tuning/tuner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace feedrate::loader {
namespace {

using detail::Tuner;
using detail::TunerSums;

/// A loader and its consumer in simulated time, with batches of 100 images.
struct Simulation {
  double service = 1e-3;  // seconds that an image takes a worker
  double demand = 1e9;    // images/s of the consumer
  /// How many of that many threads really run.
  std::function<double(unsigned)> workers = [](unsigned threads) { return double{1} * threads; };

  /// Takes batches for `seconds`; returns how often the number of threads changed.
  unsigned run(Tuner& tuner, double seconds) {
    unsigned moves = 0;
    for (const double end = now + seconds; now < end;) {
      const unsigned threads = tuner.tuning().threads;
      const double fill = 100 * service / workers(threads);
      const double use = 100 / demand;
      const double step = std::max(fill, use);
      now += step;
      sums.now_ns = static_cast<std::uint64_t>(now * 1e9);
      sums.wait_ns += static_cast<std::uint64_t>((step - use) * 1e9);
      ++sums.batches;
      sums.images += 100;
      sums.filled += 100;
      // A worker that waits for a core counts as busy.
      sums.decode_ns +=
          static_cast<std::uint64_t>(100 * service * threads / workers(threads) * 1e9);
      if (tuner.due(sums.now_ns, sums.batches) && tuner.update(sums) != threads) ++moves;
    }
    return moves;
  }

  double now = 0;
  TunerSums sums = {};
};

TEST(UnitTuner, goes_to_the_fewest_threads_that_keep_the_consumer_fed) {
  for (const double need : {0.3, 0.9, 2.6, 3.5, 11.2}) {
    for (const unsigned start : {1U, 16U}) {
      Simulation simulation{.demand = need * 1000};
      Tuner tuner(start, 16, 5);
      EXPECT_LE(simulation.run(tuner, 30), 3U) << need;
      const Tuning& found = tuner.tuning();
      EXPECT_TRUE(found.settled);
      EXPECT_EQ(found.threads, std::ceil(need)) << "from " << start;
      EXPECT_NEAR(found.need, need, 0.01 * need);
      EXPECT_NEAR(found.decode, 1e-3, 1e-5);
    }
  }
}

TEST(UnitTuner, says_what_it_found) {
  Simulation simulation{.demand = 2600};
  Tuner tuner(8, 8, 5);
  EXPECT_EQ(tuner.tuning().outcome(), Tuning::Outcome::too_short);
  EXPECT_FALSE(tuner.tuning().is_need_known());
  simulation.run(tuner, 30);
  EXPECT_EQ(tuner.tuning().outcome(), Tuning::Outcome::fed);
  EXPECT_TRUE(tuner.tuning().is_need_known());
  Tuner small(2, 2, 5);
  simulation.run(small, 30);
  EXPECT_EQ(small.tuning().outcome(), Tuning::Outcome::at_limit);
  EXPECT_TRUE(small.tuning().is_need_known());
}

TEST(UnitTuner, a_consumer_without_limit_gets_every_thread_that_helps) {
  Simulation simulation;
  Tuner tuner(2, 6, 5);
  simulation.run(tuner, 30);
  EXPECT_EQ(tuner.tuning().threads, 6U);
  EXPECT_EQ(tuner.tuning().outcome(), Tuning::Outcome::at_limit);
  EXPECT_FALSE(tuner.tuning().is_need_known());
}

TEST(UnitTuner, threads_that_gain_nothing_are_given_up) {
  Simulation simulation;
  simulation.workers = [](unsigned threads) { return std::min(threads, 3U); };  // cores
  Tuner tuner(5, 5, 5);
  simulation.run(tuner, 30);
  EXPECT_EQ(tuner.tuning().threads, 3U);
  EXPECT_EQ(tuner.tuning().knee()->threads, 3U);
  EXPECT_EQ(tuner.tuning().outcome(), Tuning::Outcome::no_gain);
}

TEST(UnitTuner, follows_changes_of_the_consumer_but_not_its_noise) {
  Simulation simulation{.demand = 2500};
  Tuner tuner(4, 8, 5);
  simulation.run(tuner, 10);
  EXPECT_EQ(tuner.tuning().threads, 3U);
  for (const double noise : {1.1, 0.9, 1.05}) {
    simulation.demand = 2500 * noise;
    EXPECT_EQ(simulation.run(tuner, 3), 0U);
  }
  simulation.demand = 6300;
  EXPECT_GT(simulation.run(tuner, 10), 0U);
  EXPECT_EQ(tuner.tuning().threads, 7U);
  simulation.demand = 800;
  simulation.run(tuner, 10);
  EXPECT_EQ(tuner.tuning().threads, 1U);
}

TEST(UnitTuner, never_exceeds_a_lowered_limit) {
  Simulation simulation{.demand = 6500};
  Tuner tuner(2, 8, 5);
  simulation.run(tuner, 10);
  EXPECT_EQ(tuner.tuning().threads, 7U);
  tuner.limit(4);
  simulation.run(tuner, 10);
  EXPECT_EQ(tuner.tuning().threads, 4U);
  EXPECT_EQ(tuner.tuning().knee()->threads, 4U);
}

}  // namespace
}  // namespace feedrate::loader
