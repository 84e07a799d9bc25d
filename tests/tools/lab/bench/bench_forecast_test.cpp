// Predictions of delivered images/s. The rates are made up.

#include "tools/lab/bench/forecast.h"

#include <gtest/gtest.h>

#include "tests/tools/rows.h"

namespace feedrate::tools {
namespace {

constexpr unsigned cores = 4;

/// Supply of 1,000 images/s by one thread and 4,000 by four; a trainer that takes 2,500.
auto rows_with(const std::string& device) {
  std::vector rows{testing::supply("lmdb", 4, 4000), testing::supply("lmdb", 1, 1000),
                   testing::supply("recordio", 1, 9), testing::demand(2500)};
  rows.back().device = device;
  if (device == "cpu") rows.back().compute_threads = cores;
  return rows;
}

auto point(const std::string& device, unsigned threads) {
  auto row = testing::delivered("lmdb", threads, 0, 0);
  row.device = device;
  if (device == "cpu") row.compute_threads = cores;
  return row;
}

TEST(UnitForecast, a_device_takes_the_lesser_of_supply_and_demand) {
  const auto rows = rows_with("cuda");
  EXPECT_DOUBLE_EQ(forecast(point("cuda", 1), rows, cores).value(), 1000);
  EXPECT_DOUBLE_EQ(forecast(point("cuda", 2), rows, cores).value(), 2000);
  EXPECT_DOUBLE_EQ(forecast(point("cuda", 4), rows, cores).value(), 2500);
}

TEST(UnitForecast, a_trainer_on_the_processor_shares_its_cores) {
  // 4 cores / 2,500 = 1.6 ms of a core for an image, and 1 ms of the loader's.
  EXPECT_DOUBLE_EQ(forecast(point("cpu", 4), rows_with("cpu"), cores).value(), 4 / 2.6e-3);
  EXPECT_DOUBLE_EQ(forecast(point("cpu", 1), rows_with("cpu"), cores).value(), 1000);
}

TEST(UnitForecast, a_trainer_on_some_of_the_cores_leaves_the_others_to_the_loader) {
  auto rows = rows_with("cpu");
  auto row = point("cpu", 4);
  rows.back().compute_threads = row.compute_threads = 1;
  rows.back().images_per_second = 500;  // 2 ms of a core, and 1 ms of the loader's
  EXPECT_DOUBLE_EQ(forecast(row, rows, cores).value(), 500);
  rows.back().compute_threads = row.compute_threads = 3;  // 6 ms
  EXPECT_DOUBLE_EQ(forecast(row, rows, cores).value(), 500);
  rows.back().images_per_second = 1500;  // 2 ms of the cores
  EXPECT_NEAR(forecast(row, rows, cores).value(), 4 / 3e-3, 1e-9);
}

TEST(UnitForecast, without_loader_threads_an_image_takes_the_time_of_both) {
  auto rows = rows_with("cuda");
  EXPECT_DOUBLE_EQ(forecast(point("cuda", 0), rows, cores).value(), 1 / (1e-3 + 0.4e-3));
  rows.push_back(testing::supply("lmdb", 0, 1250));
  EXPECT_DOUBLE_EQ(forecast(point("cuda", 0), rows, cores).value(), 1 / (0.8e-3 + 0.4e-3));
  EXPECT_DOUBLE_EQ(forecast(point("cuda", 1), rows, cores).value(), 1000);
}

TEST(UnitForecast, more_threads_than_cores_do_as_much_as_the_cores) {
  auto rows = rows_with("cuda");
  rows.back().images_per_second = 1e6;
  EXPECT_DOUBLE_EQ(forecast(point("cuda", 64), rows, cores).value(), 4000);
}

TEST(UnitForecast, without_matching_rows_there_is_no_prediction) {
  auto rows = rows_with("cuda");
  auto cold = point("cuda", 1);
  cold.cache = cold_cache;
  EXPECT_FALSE(forecast(cold, rows, cores));
  auto tf32 = point("cuda", 1);
  tf32.precision = "tf32";
  EXPECT_FALSE(forecast(tf32, rows, cores));
  rows.pop_back();  // demand
  EXPECT_FALSE(forecast(point("cuda", 1), rows, cores));
  EXPECT_FALSE(forecast(point("cuda", 1), {}, cores));
}

TEST(UnitForecast, the_error_is_a_share_of_the_measured_rate) {
  auto row = testing::delivered("lmdb", 1, 1000, 0);
  EXPECT_FALSE(forecast_error_percent(row));
  row.predicted = 900;
  EXPECT_DOUBLE_EQ(forecast_error_percent(row).value(), -10);
}

}  // namespace
}  // namespace feedrate::tools
