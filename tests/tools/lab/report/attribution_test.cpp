#include "tools/lab/report/study/attribution.h"

#include <gtest/gtest.h>

#include "formats/base/error.h"
#include "tests/tools/invented_rows.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using testing::delivered;
using testing::demand;

Point at_rate(double rate, std::optional<double> stall = {}) {
  Point point;
  point.rate = rate;
  point.stall = stall;
  return point;
}

Point with_stages(Point point, double read, double decode, double augment) {
  point.read_us = read;
  point.decode_us = decode;
  point.augment_us = augment;
  return point;
}

double sum_of(const Attribution& parts) {
  double sum = 0;
  for (const AttributionPart& part : attribution_parts) sum += parts.*part.member;
  return sum;
}

TEST(UnitAttribution, waiting_is_split_in_proportion_to_the_workers_times) {
  const Attribution parts =
      attribute(with_stages(at_rate(1000, 60), 100, 400, 100), {.demand = at_rate(2500)});
  EXPECT_DOUBLE_EQ(parts.total, 1000);
  EXPECT_DOUBLE_EQ(parts.compute, 400);
  EXPECT_DOUBLE_EQ(parts.read, 100);
  EXPECT_DOUBLE_EQ(parts.decode, 400);
  EXPECT_DOUBLE_EQ(parts.augment, 100);
  EXPECT_DOUBLE_EQ(parts.loading, 0);
  EXPECT_NEAR(parts.sharing, 0, 1e-9);
}

TEST(UnitAttribution, without_the_workers_times_waiting_is_not_split) {
  const Attribution parts = attribute(at_rate(1000), {.demand = at_rate(4000)});
  EXPECT_DOUBLE_EQ(parts.compute, 250);
  EXPECT_DOUBLE_EQ(parts.loading, 750);
}

TEST(UnitAttribution, the_time_added_by_a_cold_cache_is_storage) {
  const Point warm = with_stages(at_rate(2000, 20), 50, 50, 0);
  const Attribution parts = attribute(at_rate(500, 80), {.demand = at_rate(2500), .warm = &warm});
  EXPECT_DOUBLE_EQ(parts.storage, 1500);
  EXPECT_DOUBLE_EQ(parts.compute, 400);
  EXPECT_DOUBLE_EQ(parts.read, 50);
  EXPECT_DOUBLE_EQ(parts.decode, 50);
  EXPECT_DOUBLE_EQ(sum_of(parts), 2000);
}

TEST(UnitAttribution, neither_waiting_nor_computing_is_sharing_cores) {
  const Attribution parts = attribute(at_rate(1000, 10), {.demand = at_rate(2000)});
  EXPECT_DOUBLE_EQ(parts.compute, 500);
  EXPECT_DOUBLE_EQ(parts.loading, 100);
  EXPECT_DOUBLE_EQ(parts.sharing, 400);
}

TEST(UnitAttribution, what_the_trainer_gains_with_its_batches_on_the_device_is_upload) {
  const auto parts_with = [](double computed) {
    return attribute(at_rate(1000, 0), {.demand = at_rate(1250), .compute = at_rate(computed)});
  };
  EXPECT_DOUBLE_EQ(parts_with(2000).upload, 300);
  EXPECT_DOUBLE_EQ(parts_with(2000).compute, 500);
  EXPECT_DOUBLE_EQ(sum_of(parts_with(2000)), 1000);
  EXPECT_DOUBLE_EQ(parts_with(1200).upload, 0) << "noise: copying makes nothing faster";
  EXPECT_DOUBLE_EQ(parts_with(1200).compute, 800);
}

TEST(UnitAttribution, more_delivered_than_demanded_is_all_compute) {
  const Attribution parts = attribute(at_rate(2100, 0), {.demand = at_rate(2000)});
  EXPECT_DOUBLE_EQ(parts.compute, parts.total);
  EXPECT_DOUBLE_EQ(sum_of(parts), 1e6 / 2100);
}

TEST(UnitAttribution, no_part_is_negative_and_all_add_up_for_any_rows) {
  for (const double rate : {1.0, 900.0, 5000.0}) {
    for (const double stall : {0.0, 3.0, 55.0, 100.0, 130.0}) {
      for (const double taken : {800.0, 5000.0, 1e7}) {
        const Point warm = with_stages(at_rate(1000), 10, 20, 30);
        const Attribution parts =
            attribute(at_rate(rate, stall), {at_rate(taken), at_rate(3000), &warm});
        EXPECT_NEAR(sum_of(parts), 1e6 / rate, 1e-6) << rate << " " << stall << " " << taken;
        for (const AttributionPart& part : attribution_parts) {
          EXPECT_GE(parts.*part.member, -1e-9) << part.name << " at " << rate << " " << stall;
        }
      }
    }
  }
}

TEST(UnitAttribution, each_format_has_a_bar_at_its_fewest_threads_and_at_its_knee) {
  const auto studies =
      make_studies({demand(6000), delivered("lmdb", 0, 3000, 50), delivered("lmdb", 2, 5900, 2),
                    delivered("lmdb", 4, 5950, 1), delivered("recordio", 1, 5900, 2)});
  const auto bars = attribute(studies.front());
  ASSERT_EQ(bars.size(), 3U);
  EXPECT_EQ(bars[0].threads, 0U);
  EXPECT_FALSE(bars[0].at_knee);
  EXPECT_EQ(bars[1].threads, 2U);
  EXPECT_TRUE(bars[1].at_knee);
  EXPECT_EQ(bars[2].format, "recordio × raw");
}

TEST(UnitAttribution, every_bar_of_a_whole_bench_adds_up) {
  std::size_t bars = 0;
  for (const Study& study : make_studies(testing::invented_bench())) {
    for (const AttributedPoint& bar : attribute(study)) {
      EXPECT_NEAR(sum_of(bar.parts), bar.parts.total, 1e-6) << bar.format;
      ++bars;
    }
  }
  EXPECT_GT(bars, 8U);
}

TEST(UnitAttribution, without_demand_there_are_no_bars) {
  EXPECT_TRUE(attribute(make_studies({delivered("lmdb", 1, 5000, 1)}).front()).empty());
}

}  // namespace
}  // namespace feedrate::tools
