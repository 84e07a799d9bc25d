#include "formats/base/sweep.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "formats/base/error.h"
#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

TEST(UnitSweep, every_index_is_visited_once_by_any_number_of_threads) {
  for (const std::uint64_t count : {0U, 1U, 7U, 300U, 5000U}) {
    for (const unsigned threads : {1U, 3U, 16U}) {
      std::vector<std::atomic<int>> visits(count);
      std::uint64_t done = 0;
      sweep(
          count, threads,
          [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
            EXPECT_LT(worker, threads);
            for (std::uint64_t i = begin; i < end; ++i) ++visits[i];
          },
          [&](std::uint64_t now, std::uint64_t total) {
            EXPECT_GT(now, done);
            EXPECT_EQ(total, count);
            done = now;
          });
      EXPECT_EQ(done, count);
      for (const auto& visit : visits) EXPECT_EQ(visit, 1);
    }
  }
}

TEST(UnitSweep, of_several_failures_the_earliest_is_told) {
  for (const unsigned threads : {1U, 2U, 8U}) {
    for (int round = 0; round < 20; ++round) {
      testing::expect_error(
          [&] {
            sweep(10'000, threads, [](unsigned, std::uint64_t begin, std::uint64_t end) {
              for (std::uint64_t i = begin; i < end; ++i) {
                if (i % 1000 == 700) throw Error(join("sample ", i, "."));
              }
            });
          },
          {"sample 700."});
    }
  }
}

}  // namespace
}  // namespace feedrate::formats
