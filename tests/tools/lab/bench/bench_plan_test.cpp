#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "tests/support/expect_error.h"
#include "tests/tools/planned.h"
#include "tests/tools/rows.h"
#include "tools/lab/bench/datasets.h"
#include "tools/lab/bench/plan.h"
#include "tools/lab/bench/summary.h"

namespace feedrate::tools {
using namespace formats;

namespace {

const std::vector<BenchDataset> two_of_jpegs{{"a", "lmdb", "jpeg", "d1"},
                                             {"b", "recordio", "jpeg", "d1"}};

std::vector<std::string> titles(const std::vector<BenchPoint>& points) {
  std::vector<std::string> all;
  for (const BenchPoint& point : points) all.push_back(point.title());
  return all;
}

TEST(HostileBenchPlan, a_dataset_whose_name_is_not_utf8_is_not_measured_again) {
  auto row = testing::supply("lmdb", 1, 100);
  row.dataset = "data/\xff";
  EXPECT_TRUE(same_point(row, parse_row(to_json_line(row), "r", 1)));
}

TEST(UnitBenchPlan, rows_of_a_url_keep_its_settings_and_are_points_of_their_own) {
  const std::vector<BenchDataset> both{{"https://h/d", "recordio", "jpeg", "d1"},
                                       {"local", "recordio", "jpeg", "d1"}};
  BenchOptions options;
  const auto usual = plan_bench(options, both, 1);
  options.remote = {.connections = 8, .endpoint = "http://me:secret@s3", .cache_dir = "cache\xff"};
  const auto other = plan_bench(options, both, 1);
  ASSERT_EQ(usual.size(), other.size());
  unsigned remote = 0;
  for (std::size_t i = 0; i < usual.size(); ++i) {
    const bool is_remote = other[i].row.dataset == "https://h/d";
    remote += is_remote ? 1 : 0;
    EXPECT_EQ(usual[i].row.servers, std::nullopt);
    EXPECT_EQ(same_point(usual[i].row, other[i].row), !is_remote) << other[i].title();
    EXPECT_EQ(other[i].row.servers.has_value(), is_remote);
    if (!is_remote) continue;
    auto row = other[i].row;
    EXPECT_EQ(*row.servers, "--connections 8 --endpoint http://s3 --cache-dir cache\xef\xbf\xbd");
    row.repeats = {1};
    EXPECT_TRUE(same_point(other[i].row, parse_row(to_json_line(row), "r", 1)));
    EXPECT_EQ(format_and_codec(row), "recordio × jpeg, " + *row.servers);
  }
  EXPECT_GT(remote, 0U);
}

TEST(UnitBenchPlan, a_path_named_twice_is_one_dataset) {
  using Paths = std::vector<std::filesystem::path>;
  EXPECT_EQ(without_repeats({"d/test", "d/train/", "d/test/", "d/train", "/"}),
            (Paths{"d/test", "d/train", "/"}));
  EXPECT_EQ(without_repeats({"/usr", "/usr/.", "/usr/bin/.."}), Paths{"/usr"});
}

TEST(UnitBenchPlan, supply_and_delivered_for_each_dataset_and_thread_count_and_demand_once) {
  const auto all = titles(plan_bench(two_threads(), two_datasets, 4));
  EXPECT_EQ(
      std::set<std::string>(all.begin(), all.end()),
      (std::set<std::string>{
          "demand of lenet on cpu, fp32, batch 64", "supply of lmdb × raw (a), batch 64, 0 threads",
          "supply of lmdb × raw (a), batch 64, 2 threads",
          "supply of recordio × png (b), batch 64, 0 threads",
          "supply of recordio × png (b), batch 64, 2 threads",
          "delivered to lenet on cpu, fp32, from lmdb × raw (a), batch 64, 0 threads",
          "delivered to lenet on cpu, fp32, from lmdb × raw (a), batch 64, 2 threads",
          "delivered to lenet on cpu, fp32, from recordio × png (b), batch 64, 0 threads",
          "delivered to lenet on cpu, fp32, from recordio × png (b), batch 64, 2 threads"}));
  EXPECT_EQ(all.size(), 9U);
}

TEST(UnitBenchPlan, the_order_follows_the_seed_alone) {
  BenchOptions options = two_threads();
  const auto first = titles(plan_bench(options, two_datasets, 4));
  EXPECT_EQ(first, titles(plan_bench(options, two_datasets, 4)));
  options.seed = 2;
  EXPECT_NE(first, titles(plan_bench(options, two_datasets, 4)));
}

TEST(UnitBenchPlan, predictions_use_recent_rates_and_sets_of_images_follow_each_other) {
  const std::vector<BenchDataset> two_images{{"a", "lmdb", "raw", "d1"},
                                             {"b", "lmdb", "raw", "d2"}};
  std::string order;
  for (const BenchPoint& point : plan_bench(two_threads(), two_images, 4)) {
    const std::string now = join(point.row.digest, " ", point.row.kind, ", ");
    if (!order.ends_with(now)) order += now;
  }
  EXPECT_EQ(order, "d1 supply, d1 demand, d1 delivered, d2 supply, d2 demand, d2 delivered, ");
}

TEST(UnitBenchPlan, warm_comes_before_cold) {
  BenchOptions options = two_threads();
  options.caches = {"cold", "warm"};
  std::string order;
  for (const BenchPoint& point : plan_bench(options, two_datasets, 4)) {
    const std::string now = join(point.row.kind, " ", point.row.cache, ", ");
    if (!order.ends_with(now)) order += now;
  }
  EXPECT_EQ(order, "supply warm, demand warm, delivered warm, supply cold, delivered cold, ");
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

TEST(UnitBenchPlan, every_combination_of_the_lists_is_a_point_once) {
  BenchOptions options = two_threads();
  options.networks = {"lenet", "mlp", "lenet"};
  options.batches = {16, 64};
  options.recipes = {"imagenet-eval", "imagenet-train"};
  options.caches = {"warm", "cold"};
  options.decodes = {"full", "scaled"};
  options.precisions = {"fp32", "tf32"};
  options.devices = {"cpu", "cuda"};
  const auto points = plan_bench(options, two_of_jpegs, 4);
  EXPECT_EQ(count(points, supply_kind), 2U * 2 * 2 * 2 * 2 * 2);      // datasets × the lists
  EXPECT_EQ(count(points, demand_kind), 2U * 2 * 2 * 2 * 2);          // as the trainer's alone
  EXPECT_EQ(count(points, compute_kind), 2U * 2 * 2 * 2);             // not on a CPU
  EXPECT_EQ(count(points, delivered_kind), 2U * 2 * 2 * 2 * 2 * 16);  // × both
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(same_point(points[i].row, points[j].row));
  }
}

TEST(UnitBenchPlan, its_summary_names_the_ways_to_decode) {
  BenchOptions options = two_threads();
  EXPECT_EQ(plan_text(plan_bench(options, two_datasets, 4), options).find("decode"),
            std::string::npos);
  options.decodes = {"full", "scaled"};
  options.recipes = {"imagenet-train"};
  const std::string text = plan_text(plan_bench(options, two_of_jpegs, 4), options);
  EXPECT_NE(text.find("; decode full, scaled; threads 0, 2"), std::string::npos) << text;
}

TEST(UnitBenchPlan, only_jpegs_that_a_recipe_makes_smaller_are_decoded_scaled) {
  BenchOptions options = two_threads();
  options.networks.clear();
  options.decodes = {"full", "scaled"};
  options.recipes = {"none", "imagenet-train"};
  const auto points =
      plan_bench(options, {{"a", "lmdb", "raw", "d1"}, {"b", "lmdb", "jpeg", "d1"}}, 4);
  EXPECT_EQ(points.size(), 2U * 2 * 2 + 2);  // datasets × recipes × threads, and scaled
  for (const BenchPoint& point : points) {
    if (point.row.decode != scaled_decode) continue;
    EXPECT_EQ(point.row.codec, "jpeg");
    EXPECT_EQ(point.row.recipe, "imagenet-train");
  }
  testing::expect_error([&] { plan_bench(options, two_datasets, 4); },
                        {"decode scaled", "JPEGs and recipes that make images smaller"});
  options.recipes = {"none"};
  testing::expect_error([&] { plan_bench(options, two_of_jpegs, 4); }, {"decode scaled"});
}

TEST(UnitBenchPlan, a_device_decodes_packed_jpegs_alone_and_only_for_our_own_tool) {
  BenchOptions options = two_threads();
  options.devices = {"cpu", "cuda"};
  options.tools = {"feedrate", "pytorch+feedrate"};
  options.decodes = {"full", "device"};
  const auto points =
      plan_bench(options, {{"a", "lmdb", "packed", "d1"}, {"b", "lmdb", "jpeg", "d1"}}, 4);
  std::size_t supplies = 0, deliveries = 0;
  for (const BenchPoint& point : points) {
    if (point.row.decode != device_decode) continue;
    EXPECT_EQ(point.row.codec, "packed");
    EXPECT_EQ(point.row.tool, own_tool);
    const std::vector<std::string> words = point.command(options);
    const auto decode = std::ranges::find(words, "--decode");
    ASSERT_NE(decode, words.end());
    EXPECT_EQ(decode[1], "device");
    const auto device = std::ranges::find(words, "--device");
    ASSERT_NE(device, words.end());
    EXPECT_EQ(device[1], "cuda");
    EXPECT_NE(point.title().find("lmdb × packed, decoded on the device"), std::string::npos);
    supplies += point.row.kind == supply_kind ? 1 : 0;
    deliveries += point.row.kind == delivered_kind ? 1 : 0;
  }
  EXPECT_EQ(supplies, 2U);    // numbers of threads
  EXPECT_EQ(deliveries, 2U);  // of these, to cuda
  EXPECT_EQ(count(points, supply_kind), 2U * 2 * 2 + supplies);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(same_point(points[i].row, points[j].row));
  }
  testing::expect_error([&] { plan_bench(options, two_datasets, 4); }, {"packed JPEGs"});
  options.decodes = {"device"};
  options.devices = {"cpu"};
  testing::expect_error([&] { check_decodes(options); }, {"a device other than the CPU"});
  options.devices = {"cuda"};
  options.recipes = {"imagenet-train+color-jitter"};
  testing::expect_error([&] { check_decodes(options); }, {"works on pixels"});
  options.compute_threads = 2;
  testing::expect_error([&] { check_compute_threads(options); }, {"those of a CPU"});
  options.devices = {"cuda", "cpu"};
  check_compute_threads(options);
}

TEST(UnitBenchPlan, datasets_of_different_images_have_separate_demand) {
  auto datasets = two_datasets;
  datasets.push_back({"c", "lmdb", "raw", "d2"});
  const auto points = plan_bench(two_threads(), datasets, 4);
  EXPECT_EQ(count(points, demand_kind), 2U);
  EXPECT_EQ(count(points, supply_kind), 6U);
}

TEST(UnitBenchPlan, an_exclusion_leaves_out_what_fits_all_of_its_keys) {
  BenchOptions options = two_threads();
  options.exclude = {{{{"network", {"lenet"}}, {"threads", {"0", "1"}}, {"format", {"lmdb"}}}}};
  const auto points = plan_bench(options, two_datasets, 4);
  EXPECT_EQ(count(points, delivered_kind), 3U);
  EXPECT_EQ(count(points, supply_kind), 4U);
  EXPECT_EQ(count(points, demand_kind), 1U);
}

TEST(UnitBenchPlan, demand_is_dropped_when_every_dataset_excludes_it) {
  BenchOptions options = two_threads();
  options.networks = {"lenet", "mlp"};
  options.exclude = {{{{"network", {"lenet"}}, {"dataset", {"a"}}}}};
  EXPECT_EQ(count(plan_bench(options, two_datasets, 4), demand_kind), 2U);
  options.exclude.push_back({{{"network", {"lenet"}}, {"dataset", {"b"}}}});
  EXPECT_EQ(count(plan_bench(options, two_datasets, 4), demand_kind), 1U);
}

TEST(UnitBenchPlan, a_trainer_alone_has_neither_a_way_to_decode_nor_a_cache) {
  BenchOptions options = two_threads();
  options.recipes = {"imagenet-train"};
  options.decodes = {"full", "scaled"};
  options.caches = {"warm", "cold"};
  options.exclude = {{{{"decode", {"full"}}}}, {{{"cache", {"warm"}}}}};
  const auto points = plan_bench(options, two_of_jpegs, 4);
  EXPECT_EQ(count(points, demand_kind), 1U);
  EXPECT_EQ(count(points, supply_kind), 2U * 2);  // datasets × threads, cold and scaled
}

TEST(UnitBenchPlan, only_restricts_the_points_that_fit_its_condition) {
  BenchOptions options = two_threads();
  options.only = {{{{{"network", {"lenet"}}}}, {{{"threads", {"2"}}}}}};
  const auto points = plan_bench(options, two_datasets, 4);
  EXPECT_EQ(count(points, delivered_kind), 2U);
  EXPECT_EQ(count(points, supply_kind), 4U);  // has no network
  EXPECT_EQ(count(points, demand_kind), 1U);  // has no threads
}

TEST(HostileBenchPlan, conditions_that_leave_out_nothing_or_everything_are_refused) {
  BenchOptions options = two_threads();
  options.exclude = {{{{"network", {"vgg16"}}, {"threads", {"0", "1"}}}}};
  testing::expect_error([&] { plan_bench(options, two_datasets, 4); },
                        {"network vgg16, threads 0 or 1", "excludes nothing"});
  options.exclude = {{{{"batch", {"64"}}}}};
  testing::expect_error([&] { plan_bench(options, two_datasets, 4); }, {"nothing to measure"});
}

TEST(HostileBenchPlan, too_many_points_are_refused) {
  BenchOptions options = two_threads();
  options.batches.resize(65536);
  std::iota(options.batches.begin(), options.batches.end(), 1U);
  testing::expect_error([&] { plan_bench(options, two_datasets, 4); }, {"more than 100,000"});
}

TEST(UnitBenchPlan, points_differ_by_everything_that_may_vary) {
  const auto point = testing::delivered("lmdb", 1, 1, 1);
  const auto other = [&](const auto& change) {
    auto changed = point;
    change(changed);
    return !same_point(point, changed);
  };
  EXPECT_TRUE(other([](auto& row) { row.tool = "pytorch"; }));
  EXPECT_TRUE(other([](auto& row) { row.recipe = "cifar-train"; }));
  EXPECT_TRUE(other([](auto& row) { row.batch = 1; }));
  EXPECT_TRUE(other([](auto& row) { row.cache = cold_cache; }));
  EXPECT_TRUE(other([](auto& row) { row.servers = "--cache-dir cache"; }));
  EXPECT_TRUE(other([](auto& row) { row.decode = scaled_decode; }));
  EXPECT_TRUE(other([](auto& row) { row.device = "cuda"; }));
  EXPECT_TRUE(other([](auto& row) { row.precision = "tf32"; }));
  EXPECT_TRUE(other([](auto& row) { row.network = "mlp"; }));
  EXPECT_TRUE(other([](auto& row) { row.dataset = "elsewhere"; }));
  EXPECT_TRUE(other([](auto& row) { row.digest = "d2"; }));
  EXPECT_FALSE(other([](auto& row) { row.images_per_second = 7; }));
}

TEST(UnitBenchPlan, a_framework_measures_the_same_points_under_its_name) {
  BenchOptions options = two_threads();
  options.tools = {"feedrate", "pytorch", "pytorch"};
  options.exclude = {{{{"tool", {"pytorch"}}, {"threads", {"0"}}, {"format", {"lmdb"}}}}};
  const auto points = plan_bench(options, two_datasets, 4);
  std::size_t theirs = 0;
  for (const BenchPoint& point : points) {
    theirs += point.row.tool == "pytorch" ? 1 : 0;
    EXPECT_EQ(point.title().starts_with("pytorch: "), point.row.tool == "pytorch");
  }
  EXPECT_EQ(theirs, 7U);  // of 9: supply and delivered of lmdb without threads are left out
  EXPECT_EQ(points.size(), 16U);
  EXPECT_NE(plan_text(points, options).find("demand        2 points  by feedrate, pytorch; lenet"),
            std::string::npos);
}

TEST(UnitBenchPlan, demand_uses_a_dataset_that_its_tool_reads_where_there_is_one) {
  const auto dataset = [](const auto& reads) {
    for (const BenchPoint& point : plan_bench(two_threads(), two_datasets, 4, reads)) {
      if (point.row.kind == demand_kind) return point.row.dataset;
    }
    return std::string();
  };
  EXPECT_EQ(dataset([](const auto&) { return true; }), "a");
  EXPECT_EQ(dataset([](const auto& row) { return row.format == "recordio"; }), "b");
  EXPECT_EQ(dataset([](const auto&) { return false; }), "a");
}

TEST(UnitBenchPlan, a_cold_point_asks_its_process_to_be_cold) {
  BenchOptions options = two_threads();
  options.caches = {"cold"};
  for (const BenchPoint& point : plan_bench(options, two_datasets, 4)) {
    const auto words = point.command(options);
    EXPECT_EQ(std::ranges::count(words, "--cold"), point.row.kind == demand_kind ? 0 : 1);
  }
}

TEST(UnitBenchPlan, is_shown_with_what_varies_and_the_shortest_time) {
  BenchOptions options = two_threads();
  options.batches = {16, 64};
  const auto points = plan_bench(options, two_datasets, 4);
  EXPECT_EQ(plan_text(points, options),
            "images d1: a, b\n"
            "  supply        8 points  batch 16, 64; threads 0, 2\n"
            "  demand        2 points  lenet on cpu, fp32; batch 16, 64\n"
            "  delivered     8 points  lenet on cpu, fp32; batch 16, 64; threads 0, 2\n"
            "18 points, 3 repeats of 2.0 s each: 108.0 s, plus start-up\n");
  const auto json = nlohmann::json::parse(plan_json(points, options));
  EXPECT_EQ(json.at("points").size(), 18U);
  EXPECT_EQ(json.at("least_seconds"), 108);
}

}  // namespace
}  // namespace feedrate::tools
