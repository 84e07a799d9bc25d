// Supply on more cores than were measured, and the cores that a device needs. The rates are made up.

#include "tools/lab/report/study/scaling.h"

#include <gtest/gtest.h>

#include <cmath>

#include <nlohmann/json.hpp>

#include "tests/support/in_text.h"
#include "tests/tools/rows.h"
#include "tools/lab/report/draw/charts.h"
#include "tools/lab/report/study/report.h"
#include "tools/lab/report/write/output.h"
#include "tools/lab/report/write/study_tables.h"

namespace feedrate::tools {
namespace {

Row fed(Row row, const std::string& device) {
  row.device = device;
  row.precision.reset();
  row.emulates = "made up";
  return row;
}

/// One format of 1,000 images/s a core, another whose cost grows by the square root of 2 for each
/// doubling of the threads.
std::vector<Row> rows() {
  std::vector<Row> all{
      testing::supply("lmdb", 1, 1000),           testing::supply("lmdb", 4, 4000),
      testing::supply("recordio", 1, 1000),       testing::supply("recordio", 4, 2000),
      fed(testing::demand(20'000), "emulated a"), fed(testing::demand(3'000), "emulated b")};
  for (Row& row : all) row.repeats = {row.images_per_second};
  return all;
}

TEST(UnitScaling, an_image_costs_as_much_on_more_cores_or_goes_on_growing) {
  const Scaling even{.fewest = 1, .most = 4, .cost_fewest = 1e-3, .cost = 1e-3, .doubt = 0.1};
  EXPECT_DOUBLE_EQ(even.supply(8).likely, 8000);
  EXPECT_DOUBLE_EQ(even.supply(8).low, 8000 / 1.1);
  EXPECT_DOUBLE_EQ(even.supply(8).high, 8000 / 0.9);
  EXPECT_NEAR(even.tried().value(), 0, 1e-12);
  const Scaling growing{.fewest = 1, .most = 4, .cost_fewest = 1e-3, .cost = 2e-3};
  EXPECT_DOUBLE_EQ(growing.tried().value(), 1);
  EXPECT_DOUBLE_EQ(growing.supply(16).likely, 8000);
  EXPECT_DOUBLE_EQ(growing.supply(16).low, 4000);
  EXPECT_DOUBLE_EQ(growing.cores({8000, 8000, 8000}).likely, 16);
  EXPECT_NEAR(growing.cores({8000, 8000, 8000}).high, 64, 1e-6);
  EXPECT_NEAR(growing.supply(64).low, 8000, 1e-6);
  const Scaling once{.fewest = 2, .most = 2, .cost_fewest = 1e-3, .cost = 1e-3};
  EXPECT_FALSE(once.tried());
}

TEST(UnitScaling, cores_follow_from_cpu_time_and_not_from_rates_that_other_programs_slowed_down) {
  auto row = testing::supply("lmdb", 2, 1000);
  row.repeats = {900, 1000, 1400};
  const auto cores = [&] {
    const std::vector<Study> studies =
        make_studies({row, fed(testing::demand(10'000), "emulated a")});
    return needs(studies.at(studies.size() - 1)).at(0).cores;
  };
  EXPECT_DOUBLE_EQ(cores().likely, 20) << "thread-seconds, where CPU time was not measured";
  row.cpu_us = 600;
  EXPECT_DOUBLE_EQ(cores().likely, 6);
  EXPECT_NEAR(cores().low, 5.7, 1e-9);
  EXPECT_NEAR(cores().high, 6.3, 1e-6);
}

TEST(UnitScaling, the_most_cores_are_those_that_give_the_rate_in_the_worst_case) {
  for (const double growth : {1.0, 1.1, 1.5, 1.9, 2.5}) {
    for (const double kernel : {0.0, 0.02, 0.4}) {
      const Scaling scaling{.fewest = 1,
                            .most = 2,
                            .cost_fewest = 1e-3,
                            .cost = growth * 1e-3,
                            .kernel_share = kernel,
                            .doubt = 0.05};
      for (const double rate : {500.0, 1900.0, 2500.0, 20'000.0}) {
        const Range cores = scaling.cores({rate, rate, rate});
        EXPECT_LE(cores.low, cores.likely);
        EXPECT_LE(cores.likely, cores.high);
        if (std::isfinite(cores.high)) {
          EXPECT_NEAR(scaling.supply(cores.high).low, rate, 1e-6 * rate);
        } else {
          EXPECT_LT(scaling.supply(1e6).low, rate);
        }
      }
    }
  }
}

TEST(UnitScaling, what_the_kernel_does_may_be_serial) {
  // Of 100 µs, 60 are the kernel's: an image costs two threads 160 µs at the most.
  const Scaling files{
      .fewest = 1, .most = 1, .cost_fewest = 100e-6, .cost = 100e-6, .kernel_share = 0.6};
  EXPECT_DOUBLE_EQ(files.supply(2).likely, 20'000);
  EXPECT_NEAR(files.supply(2).low, 12'500, 1e-6);
  EXPECT_NEAR(files.supply(1e6).low, 1 / 60e-6, 1);
  const Range cores = files.cores({12'500, 12'500, 12'500});
  EXPECT_EQ(whole_cores(cores.likely), 2U);
  EXPECT_EQ(known_cores(cores.high), 2U);
  EXPECT_EQ(known_cores(4096), 4096U);
  EXPECT_FALSE(known_cores(18'691));
  EXPECT_FALSE(known_cores(files.cores({17'000, 17'000, 17'000}).high));
  EXPECT_EQ(cores_text(2, 2, std::nullopt), "2 (2 or more)");
  // What four threads cost no more than one does is not serial, but for the doubt.
  const Scaling even{
      .fewest = 1, .most = 4, .cost_fewest = 1e-4, .cost = 1e-4, .kernel_share = 0.6};
  EXPECT_DOUBLE_EQ(even.supply(8).low, even.supply(8).likely);
  const Scaling doubted{.fewest = 1,
                        .most = 4,
                        .cost_fewest = 1e-4,
                        .cost = 1e-4,
                        .kernel_share = 0.6,
                        .doubt = 0.03};
  EXPECT_NEAR(doubted.supply(8).low, 80'000 / 1.03 / (1 + 0.01 * 4), 1e-6);
  EXPECT_EQ(share_of(1, 0), 0);
}

TEST(UnitScaling, the_page_says_which_cost_may_be_serial) {
  std::vector<Row> all = rows();
  for (Row& row : all) {
    if (row.format != "recordio") continue;
    row.cpu_us = 1500;
    row.kernel_us = 900;
  }
  const Report report = make_report(all);
  const std::string note = needs_table(report).note;
  EXPECT_TRUE(testing::has(note, "takes 60 % of the CPU time with recordio × raw.")) << note;
  EXPECT_EQ(needs_table(report).rows[1].cells[1], "30 (29 to 62)");
  const auto needs = nlohmann::json::parse(report_json(report)).at("studies").at(0).at("needs");
  EXPECT_EQ(needs[1].at("kernel_percent"), 60);
  EXPECT_EQ(needs[1].at("most_cores"), 62);
  EXPECT_TRUE(needs[0].at("kernel_percent").is_null());
  EXPECT_EQ(needs[0].at("unrounded_cores"), 20);
}

/// On eight cores.
Point point_of(unsigned threads) {
  Point point;
  point.threads = threads;
  point.cores = 8;
  point.rate = 100.0 * (threads + 1);
  return point;
}

TEST(UnitScaling, threads_beyond_the_cores_and_the_trainers_own_tell_nothing) {
  Curve curve;
  for (const unsigned threads : {0U, 2U, 4U, 16U}) {
    curve.supply.push_back(point_of(threads));
  }
  const auto found = scaling_of(curve);
  EXPECT_EQ(found->fewest, 2U);
  EXPECT_EQ(found->most, 4U);
  curve.supply = {point_of(16)};
  EXPECT_FALSE(scaling_of(curve));
  curve.supply = {point_of(0)};
  EXPECT_EQ(scaling_of(curve).value().most, 1U) << "the trainer's thread loads alone";
}

TEST(UnitScaling, the_page_shows_format_by_device_and_lines_beyond_the_cores) {
  const Report report = make_report(rows());
  const Table table = needs_table(report);
  EXPECT_EQ(table.heads,
            (std::vector<std::string>{"format", "lenet on emulated a", "lenet on emulated b"}));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].cells, (std::vector<std::string>{"lmdb × raw", "20", "3"}));
  EXPECT_EQ(table.rows[1].cells[1], "40 (40 to 400)");
  EXPECT_TRUE(
      table.note.starts_with("Unreliable: from the fewest to 4 threads, CPU time per image grew: "
                             "recordio × raw by 100 %. "))
      << table.note;  // once, though two devices are fed by it
  const auto charts = study_charts(report.studies[0], report.verdicts[0]);
  ASSERT_EQ(charts.size(), 1U);
  EXPECT_TRUE(testing::has(charts[0].svg.markup(), "s1 band"));
  EXPECT_TRUE(testing::has(charts[0].svg.markup(), ">44<")) << "the cores at the right end";
  EXPECT_TRUE(testing::has(charts[0].caption, "extrapolation to more cores"));
  for (const std::string& text :
       {report_text(report), report_markdown(report), report_html(report)}) {
    EXPECT_TRUE(testing::has(text, "CPU cores needed to keep the GPU busy")) << text;
  }
}

TEST(UnitScaling, the_table_is_for_the_emulated_rate_even_where_this_machine_drives_less) {
  std::vector<Row> all = rows();
  for (Row& row : all) {
    if (row.device == "emulated a") row.emulated_rate = 40'000;
  }
  EXPECT_EQ(needs_table(make_report(all)).rows[0].cells,
            (std::vector<std::string>{"lmdb × raw", "40", "3"}));
}

TEST(UnitScaling, json_tells_the_needs_of_each_study) {
  const auto report = nlohmann::json::parse(report_json(make_report(rows())));
  const auto& needs = report.at("studies").at(0).at("needs");
  ASSERT_EQ(needs.size(), 2U);
  EXPECT_EQ(needs[0].at("format"), "lmdb × raw");
  EXPECT_EQ(needs[0].at("cores"), 20);
  EXPECT_EQ(needs[1].at("most_cores"), 400);
  EXPECT_EQ(needs[1].at("tried_error_percent"), 100);
}

TEST(UnitScaling, devices_of_one_name_and_two_rates_are_two_studies) {
  std::vector<Row> all = rows();
  all.push_back(fed(testing::demand(9'000), "emulated a"));
  all.back().emulates = "another source";
  all.back().emulated_rate = 9'000;
  const Report report = make_report(all);
  ASSERT_EQ(report.studies.size(), 3U);
  EXPECT_TRUE(testing::has(report.studies[0].title(), "emulated a (another source)"));
  EXPECT_TRUE(testing::has(report.studies[1].title(), "emulated a (made up)"));
}

TEST(UnitScaling, no_two_columns_have_one_heading) {
  std::vector<Row> all = rows();
  for (Row row : rows()) {
    row.environment.cpu = "another";
    all.push_back(row);
  }
  const auto heads = needs_table(make_report(all)).heads;
  ASSERT_EQ(heads.size(), 5U);
  EXPECT_EQ(heads[1], "lenet on emulated a, fed by an invented processor, 8 cores, no GPU");
  EXPECT_EQ(heads[2], "lenet on emulated a, fed by another, 8 cores, no GPU");
  all = rows();
  for (Row row : rows()) {
    row.batch = 128;
    all.push_back(row);
  }
  EXPECT_EQ(needs_table(make_report(all)).heads[1], "lenet on emulated a, batch 64");
  // Two sets of images have rows, not columns.
  all = rows();
  for (Row row : rows()) {
    row.digest = "d2";
    row.dataset = "other/" + row.format;
    all.push_back(row);
  }
  const Table table = needs_table(make_report(all));
  EXPECT_EQ(table.heads,
            (std::vector<std::string>{"format", "lenet on emulated a", "lenet on emulated b"}));
  ASSERT_EQ(table.rows.size(), 4U);
  for (const auto& row : table.rows) EXPECT_NE(row.cells[2], "–");
}

TEST(UnitScaling, rows_of_an_earlier_version_tell_the_emulated_rate_in_words) {
  std::vector<Row> all = rows();
  for (Row& row : all) {
    if (row.device) row.emulates = "40000.0 images/s: who says so";
    row = parse_row(to_json_line(row), "r", 1);
  }
  EXPECT_EQ(needs_table(make_report(all)).rows[0].cells[1], "40");
  all.back().emulates = "a rate";
  all.back().emulated_rate.reset();
  EXPECT_FALSE(parse_row(to_json_line(all.back()), "r", 1).emulated_rate);
}

TEST(UnitScaling, a_trainer_on_this_cpu_needs_no_such_table) {
  const Report report = make_report({testing::supply("lmdb", 1, 1000), testing::demand(5000)});
  EXPECT_TRUE(needs_table(report).rows.empty());
  EXPECT_FALSE(testing::has(report_text(report), "CPU cores needed to keep the GPU busy"));
}

}  // namespace
}  // namespace feedrate::tools
