// What bench reads from the output of measuring processes, which are faked.

#include <gtest/gtest.h>

#include <cstddef>

#include "formats/base/error.h"
#include "tests/support/expect_error.h"
#include "tests/tools/rows.h"
#include "tools/lab/bench/measure.h"

namespace feedrate::tools {
using namespace formats;

namespace {

/// A fake process that writes each of `outputs` in turn.
Runner saying(std::vector<std::string> outputs) {
  return [outputs = std::move(outputs),
          turn = std::size_t{0}](const std::vector<std::string>&) mutable {
    return Finished{.output = outputs.at(turn++)};
  };
}

BenchPoint point(auto row) {
  row.repeats.clear();
  return {row};
}

Row measure(const BenchPoint& point, unsigned repeats, const Runner& runner) {
  Measurement measurement(point);
  for (unsigned i = 0; i < repeats; ++i) measurement.repeat({}, runner);
  return measurement.row();
}

constexpr const char* loaded = R"({"images_per_second": 1000, "images": 2000, "workers_seen": 2,
  "busy": {"read": 0.2, "decode": 1.5, "augment": 0.1}, "cpu_seconds_per_image": 0.000925, "kernel_seconds_per_image": 0.00002,
  "warmup_seconds": 0.3})";

TEST(UnitBenchMeasure, a_loader_reports_what_a_worker_spends_on_an_image) {
  const auto row = measure(point(testing::supply("lmdb", 2, 0)), 1, saying({loaded}));
  EXPECT_EQ(row.images_per_second, 1000);
  EXPECT_EQ(row.workers_seen, 2U);
  EXPECT_EQ(row.read_us, 100);
  EXPECT_EQ(row.decode_us, 750);
  EXPECT_EQ(row.augment_us, 50);
  EXPECT_EQ(row.cpu_us, 925);
  EXPECT_EQ(row.kernel_us, 20);
  EXPECT_EQ(row.warmup_seconds, 0.3);
  EXPECT_FALSE(row.wait_ms || row.remote);
}

TEST(UnitBenchMeasure, what_a_server_was_asked_for_is_in_the_row) {
  const auto row = measure(
      point(testing::delivered("lmdb", 2, 0, 0)), 1,
      saying({R"({"images_per_second": 5, "remote": {"requests": 70, "repeated": 3, "bytes": 900,
                  "cached_bytes": 0, "connections": 8, "seconds_per_request": 0.003,
                  "median_seconds": 0.002, "p99_seconds": 0.02, "cpu_seconds_per_request": null}})"}));
  ASSERT_TRUE(row.remote);
  EXPECT_EQ(row.remote->requests, 70U);
  EXPECT_EQ(row.remote->p99_seconds, 0.02);
  EXPECT_FALSE(row.remote->cpu_seconds);
  const Row read = parse_row(to_json_line(row), "results.jsonl", 1);
  ASSERT_TRUE(read.remote);
  EXPECT_EQ(read.remote->repeated, 3U);
}

TEST(UnitBenchMeasure, the_cost_of_a_run_is_what_its_process_reports) {
  const auto row =
      measure(point(testing::delivered("lmdb", 2, 0, 0)), 1,
              saying({R"({"images_per_second": 5, "cpu_seconds": 1.5, "cpu_energy_j": null,
                  "gpu_throttle": "software power cap", "upload_count": 12})"}));
  EXPECT_EQ(row.telemetry.cpu_seconds, 1.5);
  EXPECT_EQ(row.telemetry.gpu_throttle, "software power cap");
  EXPECT_EQ(row.telemetry.upload_count, 12U);
  EXPECT_FALSE(row.telemetry.cpu_energy_j || row.telemetry.peak_rss_mib);
}

TEST(UnitBenchMeasure, what_a_process_does_not_report_is_absent) {
  const auto row = measure(point(testing::delivered("lmdb", 2, 0, 0)), 1,
                           saying({R"({"images_per_second": 5, "images": 100, "busy": null})"}));
  EXPECT_FALSE(row.read_us || row.decode_us || row.augment_us || row.cpu_us || row.kernel_us);
  EXPECT_FALSE(row.wait_ms || row.stall_percent || row.warmup_seconds || row.workers_seen);
}

TEST(UnitBenchMeasure, demand_has_no_figures_of_a_loader) {
  const auto row = measure(point(testing::demand(0)), 1, saying({loaded}));
  EXPECT_FALSE(row.read_us || row.decode_us || row.augment_us || row.workers_seen);
  EXPECT_EQ(row.cpu_us, 925);
}

TEST(UnitBenchMeasure, a_process_that_measured_no_rate_is_named) {
  testing::expect_error(
      [] {
        measure(point(testing::supply("lmdb", 2, 0)), 1,
                saying({R"({"images_per_second": null})"}));
      },
      {"supply of lmdb", "too short for a rate"});
}

TEST(UnitBenchMeasure, everything_but_the_rate_comes_from_the_median_repeat) {
  const auto trained = [](int rate, double wait) {
    return join(R"({"images_per_second": )", rate, R"(, "wait_ms_per_step": )", wait,
                R"(, "stall_percent": 7})");
  };
  const auto row = measure(point(testing::delivered("lmdb", 2, 0, 0)), 3,
                           saying({trained(30, 1.5), trained(10, 3.5), trained(20, 2.5)}));
  EXPECT_EQ(row.repeats, (std::vector<double>{30, 10, 20}));
  EXPECT_EQ(row.images_per_second, 20);
  EXPECT_EQ(row.wait_ms, 2.5);
  EXPECT_EQ(row.stall_percent, 7);
}

}  // namespace
}  // namespace feedrate::tools
