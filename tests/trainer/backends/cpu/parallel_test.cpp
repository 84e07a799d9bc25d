#include "trainer/backends/cpu/threads/parallel.h"

#include <gtest/gtest.h>

#include <vector>

#include "trainer/backends/cpu/values/relayout.h"
#include "trainer/backends/cpu/values/vector.h"

namespace feedrate::trainer::cpu {
namespace {

TEST(UnitParallel, shares_cover_everything_once_and_start_at_grains) {
  for (const std::int64_t size : {0, 1, 5, 16, 17, 500, 1000}) {
    for (const std::int64_t grain : {1, 16}) {
      for (const unsigned threads : {1U, 2U, 3U, 7U, 64U}) {
        std::int64_t end = 0;
        for (unsigned number = 0; number < threads; ++number) {
          const Range range = share_of(size, number, threads, grain);
          EXPECT_EQ(range.begin, end);
          EXPECT_TRUE(range.begin % grain == 0 || range.begin == size);
          end = range.end;
        }
        EXPECT_EQ(end, size);
      }
    }
  }
}

TEST(UnitParallel, every_thread_works_once) {
  std::vector<int> done(5);
  on_threads(5, [&](unsigned number) { ++done[number]; });
  EXPECT_EQ(done, std::vector<int>(5, 1));
}

TEST(UnitLanes, pieces_cover_every_lane_once) {
  for (const std::int64_t count : {0, 1, 3, 4, 16, 20, 50, 127}) {
    std::int64_t next = 0;
    for_lanes(count, [&](std::int64_t first, auto width) {
      EXPECT_EQ(first, next);
      next += width;
    });
    EXPECT_EQ(next, count);
  }
}

TEST(UnitRelayout, values_keep_their_places_and_filling_is_zero) {
  const Extent extent{5, 2, 3};
  const Layout plain{extent, 1}, last = Layout::channels_last(extent), blocks{extent, 4};
  std::vector<float> values(30), turned(30), filled(48, -1.0F), back(30);
  for (std::size_t i = 0; i < 30; ++i) values[i] = static_cast<float>(i);
  relayout(values.data(), plain, turned.data(), last);
  EXPECT_EQ(turned[1], 6);  // channel 1 of the first pixel
  relayout(turned.data(), last, filled.data(), blocks);
  EXPECT_EQ(filled[24], 24);  // channel 4 starts the second block
  EXPECT_EQ(filled[25], 0);
  relayout(filled.data(), blocks, back.data(), plain);
  EXPECT_EQ(back, values);
}

}  // namespace
}  // namespace feedrate::trainer::cpu
