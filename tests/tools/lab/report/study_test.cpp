#include "tools/lab/report/study/study.h"

#include <gtest/gtest.h>

#include "tests/tools/rows.h"

namespace feedrate::tools {
namespace {

using testing::delivered;
using testing::demand;
using testing::supply;

TEST(UnitStudy, each_network_is_a_study_and_shares_the_supply) {
  auto other = delivered("lmdb", 1, 9000, 1);
  other.network = "mlp";
  const auto studies =
      make_studies({supply("lmdb", 1, 50000), delivered("lmdb", 1, 6000, 1), other});
  ASSERT_EQ(studies.size(), 2U);
  for (const Study& study : studies) EXPECT_EQ(study.curves.front().supply.size(), 1U);
  EXPECT_EQ(studies[1].title(), "mlp on cpu, fp32, batch 64");
}

TEST(UnitStudy, rows_of_one_point_are_pooled) {
  const auto studies = make_studies({supply("lmdb", 1, 1000), supply("lmdb", 1, 1100)});
  ASSERT_EQ(studies.front().curves.front().supply.size(), 1U);
  EXPECT_NEAR(studies.front().curves.front().supply.front().rate, 1050, 1);
}

TEST(UnitStudy, different_images_are_different_studies_with_their_folder_in_the_title) {
  auto mnist = delivered("lmdb", 1, 6000, 1), cifar = delivered("lmdb", 1, 700, 1);
  mnist.dataset = "data/mnist/lmdb/train";
  cifar.dataset = "data/cifar10/lmdb/train";
  cifar.digest = "d2";
  const auto studies = make_studies({mnist, cifar});
  ASSERT_EQ(studies.size(), 2U);
  EXPECT_EQ(studies[0].title(), "lenet on cifar10, cpu, fp32, batch 64");
  EXPECT_EQ(studies[1].title(), "lenet on mnist, cpu, fp32, batch 64");
  EXPECT_EQ(studies[0].curves.size(), 1U);
  EXPECT_EQ(studies[0].digest, "d2");
}

TEST(UnitStudy, images_with_generic_paths_are_named_by_their_digest) {
  auto other = supply("recordio", 1, 1000);
  other.digest = "0123456789abcdef";
  const auto studies = make_studies({supply("lmdb", 1, 1000), other});
  ASSERT_EQ(studies.size(), 2U);
  EXPECT_EQ(studies[0].dataset, "01234567");
  EXPECT_EQ(studies[1].dataset, "d1");
}

TEST(UnitStudy, a_folder_that_holds_both_names_neither) {
  auto one = supply("lmdb", 1, 1000), other = supply("lmdb", 1, 900);
  one.dataset = "/srv/images/mnist/lmdb";
  other.dataset = "/srv/images/cifar10/lmdb";
  other.digest = "d2";
  const auto studies = make_studies({one, other});
  ASSERT_EQ(studies.size(), 2U);
  EXPECT_EQ(studies[0].dataset, "cifar10");
  EXPECT_EQ(studies[1].dataset, "mnist");
}

TEST(UnitStudy, the_innermost_folder_of_all_formats_is_the_name) {
  auto jpeg = supply("recordio", 1, 1000), packed = supply("recordio", 1, 2000);
  jpeg.codec = "jpeg";
  packed.codec = "packed";
  jpeg.dataset = "device/photographs/jpeg";
  auto cropped = jpeg;
  cropped.dataset = "device/photographs/jpeg-with-crop-index";
  packed.dataset = "device/photographs/packed";
  auto other = supply("lmdb", 1, 900);
  other.dataset = "data/mnist/lmdb/train";
  other.digest = "d2";
  const auto studies = make_studies({jpeg, cropped, packed, other});
  ASSERT_EQ(studies.size(), 2U);
  EXPECT_EQ(studies[0].dataset, "mnist");
  EXPECT_EQ(studies[1].dataset, "photographs");
}

TEST(UnitStudy, another_tool_a_cold_cache_and_scaled_images_have_curves_and_names_of_their_own) {
  auto peer = delivered("lmdb", 1, 4000, 1), cold = delivered("lmdb", 1, 900, 60);
  auto scaled = delivered("lmdb", 1, 5950, 1);
  scaled.decode = scaled_decode;
  auto peers_demand = demand(4500);
  peer.tool = peers_demand.tool = "pytorch";
  cold.cache = cold_cache;
  const auto studies =
      make_studies({peer, peers_demand, cold, scaled, delivered("lmdb", 1, 5900, 1), demand(6000)});
  ASSERT_EQ(studies.size(), 1U);
  const auto& curves = studies.front().curves;
  ASSERT_EQ(curves.size(), 4U);
  EXPECT_EQ(curves[0].format, "lmdb × raw");
  EXPECT_EQ(curves[1].format, "lmdb × raw, cold");
  EXPECT_EQ(curves[2].format, "lmdb × raw, scaled");
  EXPECT_EQ(curves[3].format, "pytorch · lmdb × raw");
  EXPECT_NEAR(curves[3].demand->rate, 4500, 1);
  EXPECT_NEAR(studies.front().demand->rate, 6000, 1);
}

TEST(UnitStudy, a_recipe_is_named_because_its_study_is_another) {
  auto cropped = delivered("lmdb", 1, 5000, 1);
  cropped.recipe = "mnist";
  const auto studies = make_studies({cropped, delivered("lmdb", 1, 6000, 1)});
  ASSERT_EQ(studies.size(), 2U);
  EXPECT_EQ(studies[0].title(), "lenet on cpu, fp32, batch 64, mnist");
  EXPECT_EQ(studies[1].title(), "lenet on cpu, fp32, batch 64");
}

TEST(UnitStudy, datasets_stored_alike_have_curves_of_their_own) {
  auto fast = supply("lmdb", 1, 9000), slow = supply("lmdb", 1, 300);
  fast.dataset = "/fast/lmdb";
  slow.dataset = "/slow/lmdb";
  const auto studies = make_studies({fast, slow, supply("recordio", 1, 1000)});
  ASSERT_EQ(studies.size(), 1U);
  const auto& curves = studies.front().curves;
  ASSERT_EQ(curves.size(), 3U);
  EXPECT_EQ(curves[0].format, "lmdb × raw (/fast/lmdb)");
  EXPECT_EQ(curves[1].format, "lmdb × raw (/slow/lmdb)");
  EXPECT_EQ(curves[2].format, "recordio × raw");
  EXPECT_NEAR(curves[0].supply.front().rate, 9000, 1);
  EXPECT_NEAR(curves[1].supply.front().rate, 300, 1);
}

TEST(UnitStudy, a_url_is_named_as_one) {
  auto here = supply("lmdb", 1, 1000), there = supply("lmdb", 1, 100);
  here.dataset = "data//lmdb/";
  there.dataset = "https://host/data/lmdb/";
  EXPECT_EQ(plain_path(here), "data/lmdb");
  EXPECT_EQ(plain_path(there), "https://host/data/lmdb");
}

TEST(UnitStudy, rows_of_two_machines_are_not_pooled) {
  auto here = demand(6000), there = demand(2000);
  there.environment.cpu = "another";
  auto loaded = supply("lmdb", 1, 3000);
  loaded.environment.cpu = "another";
  const auto studies = make_studies({here, there, loaded});
  ASSERT_EQ(studies.size(), 2U);
  EXPECT_EQ(studies[0].title(),
            "lenet on cpu, fp32, batch 64, on an invented processor, 8 cores, no GPU");
  EXPECT_NEAR(studies[0].demand->rate, 6000, 1);
  EXPECT_TRUE(studies[0].curves.empty());
  EXPECT_EQ(studies[1].title(), "lenet on cpu, fp32, batch 64, on another, 8 cores, no GPU");
  EXPECT_NEAR(studies[1].demand->rate, 2000, 1);
  EXPECT_NEAR(studies[1].curves.front().supply.front().rate, 3000, 1);
}

TEST(UnitStudy, a_value_of_a_point_is_the_median_or_absent_if_not_measured) {
  auto one = supply("lmdb", 1, 1000), two = supply("lmdb", 1, 1000);
  one.decode_us = 10;
  two.decode_us = 30;
  const Point point = make_studies({one, two}).front().curves.front().supply.front();
  EXPECT_DOUBLE_EQ(point.decode_us.value(), 20);
  EXPECT_FALSE(point.read_us);
  EXPECT_FALSE(point.prediction_error());
}

TEST(UnitStudy, prediction_errors_are_relative_to_the_measured_rate) {
  auto near = delivered("lmdb", 1, 1000, 1), far = delivered("lmdb", 2, 1000, 1);
  EXPECT_FALSE(prediction_error(make_studies({near}).front().curves));
  near.predicted = 1010;
  far.predicted = 900;
  const auto studies = make_studies({near, far, supply("lmdb", 4, 5000)});
  const PredictionError error = prediction_error(studies.front().curves).value();
  EXPECT_EQ(error.predictions, 2U);
  EXPECT_NEAR(error.median, 5.5, 1e-9);
  EXPECT_NEAR(error.largest, 10, 1e-9);
}

}  // namespace
}  // namespace feedrate::tools
