#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "formats/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"
#include "tests/tools/rows.h"
#include "tools/bench/plan.h"
#include "tools/bench/results_file.h"

namespace feedrate {
namespace {

const std::vector<BenchDataset> two_datasets{{"a", "lmdb", "raw", "d1"},
                                             {"b", "recordio", "png", "d1"}};

BenchOptions two_threads() {
  BenchOptions options;
  options.networks = {"lenet"};
  options.threads = {0, 2};
  return options;
}

std::vector<std::string> titles(const std::vector<BenchPoint>& points) {
  std::vector<std::string> all;
  for (const BenchPoint& point : points) all.push_back(point.title());
  return all;
}

TEST(UnitBenchPlan, supply_and_delivered_for_each_dataset_and_thread_count_and_demand_once) {
  const auto all = titles(plan_bench(two_threads(), two_datasets, 4));
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()),
            (std::set<std::string>{
                "demand of lenet on cpu", "supply, lmdb × raw, 0 threads",
                "supply, lmdb × raw, 2 threads", "supply, recordio × png, 0 threads",
                "supply, recordio × png, 2 threads", "delivered to lenet, lmdb × raw, 0 threads",
                "delivered to lenet, lmdb × raw, 2 threads",
                "delivered to lenet, recordio × png, 0 threads",
                "delivered to lenet, recordio × png, 2 threads"}));
  EXPECT_EQ(all.size(), 9U);
}

TEST(UnitBenchPlan, the_order_follows_the_seed_alone) {
  BenchOptions options = two_threads();
  const auto first = titles(plan_bench(options, two_datasets, 4));
  EXPECT_EQ(first, titles(plan_bench(options, two_datasets, 4)));
  options.seed = 2;
  EXPECT_NE(first, titles(plan_bench(options, two_datasets, 4)));
}

TEST(UnitBenchPlan, a_cpu_trainer_gets_every_core_at_any_loader_thread_count) {
  for (const BenchPoint& point : plan_bench(two_threads(), two_datasets, 4)) {
    const bool trains = point.row.kind != supply_kind;
    EXPECT_EQ(point.row.compute_threads, trains ? std::optional(4U) : std::nullopt);
  }
}

TEST(UnitBenchPlan, a_row_in_the_file_stands_for_its_point_whichever_dataset_filled_demand) {
  const auto a = testing::demand(6000);
  auto b = testing::demand(7000);
  b.format = "recordio";
  EXPECT_TRUE(same_point(a, b));
  EXPECT_FALSE(same_point(testing::supply("lmdb", 1, 1), testing::supply("lmdb", 2, 1)));
  EXPECT_FALSE(same_point(testing::supply("lmdb", 1, 1), testing::supply("recordio", 1, 1)));
}

TEST(UnitBenchPlan, a_dataset_whose_name_begins_with_a_dash_is_no_option) {
  const BenchOptions options = two_threads();
  for (const BenchPoint& point : plan_bench(options, {{"-a", "lmdb", "raw", "d1"}}, 4)) {
    const std::vector<std::string> words = point.command(options);
    EXPECT_EQ(words.back(), "-a");
    EXPECT_EQ(words.at(words.size() - 2), "--");
  }
}

TEST(UnitResultsFile, rows_added_are_rows_read) {
  const testing::TempDirectory directory;
  const auto path = directory / "results.jsonl";
  ResultsFile(path, Existing::refuse).add(testing::supply("lmdb", 1, 1000));
  const ResultsFile again(path, Existing::resume);
  ASSERT_EQ(again.rows().size(), 1U);
  EXPECT_EQ(again.rows().front().images_per_second, 1000);
}

TEST(UnitResultsFile, a_file_with_rows_is_not_overwritten_unasked) {
  const testing::TempDirectory directory;
  const auto path = directory / "results.jsonl";
  ResultsFile(path, Existing::refuse).add(testing::supply("lmdb", 1, 1000));
  testing::expect_error([&] { ResultsFile(path, Existing::refuse); }, {"has rows", "--resume"});
}

TEST(HostileResultsFile, what_a_killed_bench_left_of_a_line_is_cut_off) {
  const testing::TempDirectory directory;
  const auto path = directory / "results.jsonl";
  ResultsFile(path, Existing::refuse).add(testing::supply("lmdb", 1, 1000));
  const std::string whole = read_text(path);
  std::ofstream(path, std::ios::app) << whole.substr(0, whole.size() / 2);
  ResultsFile(path, Existing::resume).add(testing::supply("lmdb", 2, 2000));
  EXPECT_EQ(read_rows(path).runs.size(), 2U);
}

TEST(HostileResultsFile, a_file_given_by_mistake_stays_as_it_was) {
  const testing::TempDirectory directory;
  const auto path = directory / "precious";
  for (const std::string content : {"one line without an end", "a line\nand more", "{\"a\": 1}"}) {
    write_text(path, content);
    testing::expect_error([&] { ResultsFile(path, Existing::resume); }, {"precious"});
    EXPECT_EQ(read_text(path), content);
  }
}

TEST(HostileResultsFile, two_benches_do_not_write_one_file) {
  const testing::TempDirectory directory;
  const auto path = directory / "results.jsonl";
  const ResultsFile first(path, Existing::refuse);
  testing::expect_error([&] { ResultsFile(path, Existing::resume); }, {"another bench"});
}

}  // namespace
}  // namespace feedrate
