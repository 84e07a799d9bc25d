// Trainers that a bench emulates, and their points.

#include "tools/lab/bench/emulation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/expect_error.h"
#include "tests/tools/rows.h"
#include "tools/console/advised_error.h"
#include "tools/lab/bench/forecast.h"
#include "tools/lab/bench/plan.h"
#include "tools/lab/report/study/report.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using testing::expect_error;

const std::vector<PublishedRate> made_up = {
    {.device = "Fast", .network = "resnet50", .images_per_second = 3000},
    {.device = "Fast", .network = "lenet", .precision = "mixed", .images_per_second = 9000}};

BenchOptions emulating(std::vector<std::string> texts) {
  BenchOptions options;
  options.networks = {"lenet"};
  options.threads = {1, 2};
  options.emulated = std::move(texts);
  options.rates = made_up;
  return options;
}

std::vector<BenchPoint> plan(const BenchOptions& options) {
  return plan_bench(options, {{"a", "lmdb", "raw", "d1"}}, 4);
}

TEST(UnitBenchEmulation, is_a_rate_or_devices_of_which_one_is_known) {
  EXPECT_EQ(emulation_of("2500", "lenet", made_up).images_per_second, 2500);
  EXPECT_EQ(emulation_of("2500", "lenet", made_up).device, "emulated 2,500/s");
  const Emulation one = emulation_of("FAST", "lenet", made_up);
  const Emulation eight = emulation_of("fastx8", "lenet", made_up);
  EXPECT_EQ(one.device, "emulated fast");
  EXPECT_EQ(one.precision, "mixed");
  EXPECT_EQ(eight.device, "emulated fastx8");
  EXPECT_EQ(eight.images_per_second, 8 * one.images_per_second);
  EXPECT_DOUBLE_EQ(eight.host_cores, 8 * one.host_cores);
  EXPECT_NE(emulation_of("fast", "vgg16", made_up).origin.find("estimate"), std::string::npos);
}

TEST(UnitBenchEmulation, keeps_as_many_cores_busy_as_it_is_told_and_its_rows_say_so) {
  const Emulation usual = emulation_of("fastx8", "lenet", made_up);
  const Emulation busy = emulation_of("fastx8", "lenet", made_up, 1);
  EXPECT_EQ(busy.host_cores, 8);
  EXPECT_EQ(busy.origin, usual.origin + "; 1 of the cores busy for each device");
  EXPECT_EQ(emulation_of("2500", "lenet", made_up, 0.5).origin,
            "2500.0 images/s, as asked; 0.5 of the cores busy for each device");
}

TEST(HostileBenchEmulation, refuses_what_it_does_not_know_before_measuring) {
  for (const char* wrong : {"0", "-5", "inf", "nan", "1e99", "5x", "fats", "fastx0", "1e400",
                            "1e-400", "fastx406", "fastx999999", "fastx99999999999", ""}) {
    EXPECT_THROW(check_emulations(emulating({wrong})), Misused) << wrong;
  }
  check_emulations(emulating({"fastx405"}));
  expect_error(
      [] { check_emulations(emulating({"fastx406"})); },
      {"'emulate fastx406'", "406 devices would keep 64.15 cores busy here; at most 64 can be"});
  expect_error([] { check_emulations(emulating({"1e400"})); }, {"1e400 is no rate in images/s"});
  BenchOptions options = emulating({"fast"});
  options.networks.clear();
  EXPECT_THROW(check_emulations(options), Misused) << "the rate of a device depends on its network";
  options.emulated = {"2500"};
  check_emulations(options);
  EXPECT_EQ(fed_networks(options), std::vector<std::string>{"trainer"});
  options.emulated = {"fast"};
  options.networks = {"lenot"};
  expect_error([&] { check_emulations(options); }, {"did you mean lenet?"});
}

TEST(UnitBenchEmulation, has_demand_and_delivered_and_no_trainer_of_this_machine) {
  const std::vector<BenchPoint> points = plan(emulating({"fast", "500"}));
  EXPECT_EQ(points.size(), 2U + 2 * (1 + 2));
  for (const BenchPoint& point : points) {
    EXPECT_NE(point.row.device, "cpu");
    EXPECT_EQ(point.row.emulates.has_value(), point.row.kind != supply_kind);
    EXPECT_EQ(point.command({}).front(), "load");
    const auto words = point.command({});
    const bool resident = std::ranges::find(words, "--resident") != words.end();
    EXPECT_EQ(resident, point.row.kind == demand_kind);
  }
  BenchOptions both = emulating({"fast"});
  both.devices = {"cpu"};
  const auto is_of_cpu = [](const BenchPoint& point) { return point.row.device == "cpu"; };
  EXPECT_EQ(std::ranges::count_if(plan(both), is_of_cpu), 3);
}

TEST(UnitBenchEmulation, one_device_in_several_spellings_is_one) {
  EXPECT_EQ(plan(emulating({"fast", "FAST", "fastx1"})).size(), plan(emulating({"fast"})).size());
  EXPECT_EQ(plan(emulating({"1000", "1e3", "1000.0"})).size(), plan(emulating({"1000"})).size());
}

TEST(UnitBenchEmulation, two_rates_have_two_names) {
  const Emulation one = emulation_of("1000.21", "resnet50", {});
  const Emulation other = emulation_of("1000.24", "resnet50", {});
  EXPECT_EQ(one.device, "emulated 1000.21/s");
  EXPECT_NE(one.device, other.device);
  EXPECT_NE(one.origin, other.origin);
  EXPECT_EQ(emulation_of("30000", "resnet50", {}).device, "emulated 30,000/s");
}

TEST(HostileBenchEmulation, a_step_longer_than_a_repeat_is_refused_at_once) {
  BenchOptions options = emulating({"0.5"});
  expect_error([&] { check_emulations(options); },
               {"'emulate 0.5': a step of ", " takes ", "longer than --seconds"});
  options.emulated = {"1e-320"};
  expect_error([&] { check_emulations(options); }, {"longer than --seconds"});
  options.emulated = {"1e10"};
  expect_error([&] { check_emulations(options); },
               {"expected more than 0 and at most 1,000,000,000"});
}

/// An emulated trainer's rows, of no known precision.
Row emulated(Row row) {
  row.device = "emulated fast";
  row.precision.reset();
  row.emulates = "3000.0 images/s: made up";
  return row;
}

TEST(UnitBenchEmulation, a_caveat_says_where_this_machine_is_slower_than_the_device) {
  std::vector<Row> rows{testing::supply("lmdb", 1, 1000), emulated(testing::demand(3000)),
                        emulated(testing::delivered("lmdb", 1, 950, 60))};
  const auto said = [&](double rate) {
    for (Row& row : rows) {
      if (row.emulates) row.emulated_rate = rate;
    }
    return make_report(rows).doubts.back();
  };
  EXPECT_EQ(said(3000).find("too busy"), std::string::npos) << said(3000);
  EXPECT_NE(said(6000).find("too small to emulate 6,000 images/s: it reached 3,000."),
            std::string::npos)
      << said(6000);
}

TEST(UnitBenchEmulation, another_rate_is_another_point) {
  BenchOptions options = emulating({"fast"});
  const std::vector<BenchPoint> before = plan(options);
  options.rates[1].images_per_second = 8000;
  const std::vector<BenchPoint> after = plan(options);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(same_point(before[i].row, after[i].row), before[i].row.kind == supply_kind);
  }
}

TEST(UnitBenchEmulation, rows_have_a_study_of_their_own_that_says_so) {
  const std::vector<Row> rows{testing::supply("lmdb", 1, 1000), testing::demand(2500),
                              testing::delivered("lmdb", 1, 900, 5),
                              emulated(testing::demand(3000)),
                              emulated(testing::delivered("lmdb", 1, 950, 5))};
  Row told = rows.back();
  told.emulated_rate = 3000;  // as its text says
  EXPECT_EQ(to_json_line(parse_row(to_json_line(told), "r", 1)), to_json_line(told));
  const Report report = make_report(rows);
  ASSERT_EQ(report.studies.size(), 2U);
  EXPECT_EQ(report.studies[0].title(), "lenet on cpu, fp32, batch 64");
  EXPECT_EQ(report.studies[1].title(), "lenet on emulated fast, batch 64");
  EXPECT_EQ(report.studies[1].demand->rate, 3000);
  const auto says = [](const std::string& doubt) {
    return doubt ==
           "No trainer ran for lenet on emulated fast: a thread consumed batches at 3000.0 "
           "images/s: made "
           "up.";
  };
  EXPECT_EQ(std::ranges::count_if(report.doubts, says), 1);
}

TEST(HostileBenchEmulation, only_emulated_rows_may_lack_a_precision) {
  Row row = testing::delivered("lmdb", 1, 900, 5);
  row.precision.reset();
  expect_error([&] { parse_row(to_json_line(row), "r", 1); }, {"precision is null"});
}

TEST(UnitBenchEmulation, threads_that_drive_the_device_take_their_part_of_the_cores) {
  Row demand = emulated(testing::demand(3000));
  demand.cpu_us = 1000;
  const std::vector<Row> rows{testing::supply("lmdb", 1, 1000), testing::supply("lmdb", 4, 4000),
                              demand};
  const Row point = emulated(testing::delivered("lmdb", 4, 0, 0));
  EXPECT_DOUBLE_EQ(forecast(point, rows, 4).value(), 4 / 2e-3);
}

}  // namespace
}  // namespace feedrate::tools
