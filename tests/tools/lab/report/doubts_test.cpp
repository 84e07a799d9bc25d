#include <gtest/gtest.h>

#include "tests/tools/rows.h"
#include "tools/lab/report/study/report.h"

namespace feedrate::tools {
namespace {

using testing::delivered;
using testing::demand;
using testing::spread;

TEST(UnitDoubts, quiet_release_rows_raise_none) {
  const std::vector<feedrate::tools::Row> rows{demand(6000), delivered("lmdb", 1, 5900, 1)};
  EXPECT_TRUE(doubts(rows, make_studies(rows)).empty());
}

TEST(UnitDoubts, a_gpu_that_did_not_throttle_raises_none) {
  auto row = delivered("lmdb", 1, 5900, 1);
  row.telemetry.gpu_throttle = "none";
  EXPECT_TRUE(doubts({row}, make_studies({row})).empty());
}

TEST(UnitDoubts, rows_with_different_compute_threads_in_one_curve_are_doubtful) {
  auto one = delivered("lmdb", 1, 3000, 1), all = delivered("lmdb", 2, 5900, 1);
  one.compute_threads = 1;
  all.compute_threads = 8;
  const auto sentences = doubts({one, all}, make_studies({one, all}));
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_EQ(
      sentences.front(),
      "The measurements of lenet by feedrate on cpu share one curve but used different numbers of "
      "compute threads (1, 8).");
}

TEST(UnitDoubts, every_cause_has_its_sentence) {
  auto row = spread(delivered("lmdb", 16, 9000, 1), 30);
  row.environment.build_type = "Debug";
  row.workers_seen = 3;
  row.telemetry.gpu_throttle = "power cap";
  auto elsewhere = demand(6000);
  elsewhere.environment.cpu = "another";
  elsewhere.environment.commit = "7654321";
  const std::vector<feedrate::tools::Row> rows{row, demand(6000), elsewhere};
  std::string all;
  for (const std::string& sentence : doubts(rows, make_studies(rows))) all += sentence + "\n";
  for (const char* part :
       {"Debug build", "16 loader threads shared 8 cores", "Noisy machine",
        "some loader threads had nothing to do", "clocks in 1 measurement (power cap)",
        "2 machines. Each is judged", "2 commits", "faster with the loader"}) {
    EXPECT_TRUE(all.find(part) != std::string::npos) << part << " is missing in\n" << all;
  }
}

TEST(UnitDoubts, the_widest_spread_of_a_trainer_alone_names_no_loader_threads) {
  const auto sentences = doubts({spread(demand(6000), 30)}, {});
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_EQ(sentences.front(),
            "Noisy machine: 1 of 1 measurements varied by more than 5 % (worst: 30 %, demand).");
}

TEST(UnitDoubts, cores_that_others_took_are_told_where_threads_waited_for_them) {
  auto row = testing::supply("lmdb", 2, 1000);
  row.cpu_us = 600;  // of 2,000 that two threads have for an image
  row.telemetry.psi_cpu_percent = 96;
  const auto sentences = doubts({row}, {});
  ASSERT_EQ(sentences.size(), 1U);
  EXPECT_EQ(sentences.front(),
            "Other programs used the CPU: loader threads got 30 % of a core (in 1 measurement of "
            "supply). On an "
            "idle machine loading is faster.");
  row.telemetry.core_wait_percent = 65;
  EXPECT_TRUE(doubts({row}, {}).front().starts_with(
      "Other programs used the CPU: loader threads got 35 %"));
  row.telemetry.core_wait_percent = 4;
  EXPECT_TRUE(doubts({row}, {}).empty()) << "its threads wait for something else";
  row.telemetry.core_wait_percent.reset();
  auto storage = row, own = row, busy = row;
  storage.telemetry.psi_cpu_percent = 5;  // threads that wait for files
  own.threads = own.workers_seen = 16;    // on 8 cores
  busy.cpu_us = 1950;
  EXPECT_TRUE(doubts({storage}, {}).empty());
  EXPECT_EQ(doubts({own}, {}).size(), 1U);
  EXPECT_TRUE(doubts({busy}, {}).empty());
}

TEST(UnitDoubts, too_many_threads_are_beside_the_cores_of_their_machine) {
  auto small = delivered("lmdb", 16, 3000, 1), large = delivered("lmdb", 16, 9000, 1);
  small.environment.cores = 4;
  large.environment.cores = 64;
  const auto sentences = doubts({large, small}, {});
  EXPECT_EQ(sentences.front(), "Up to 16 loader threads shared 4 cores.");
}

}  // namespace
}  // namespace feedrate::tools
