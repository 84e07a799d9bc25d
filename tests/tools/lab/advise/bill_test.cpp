#include "tools/lab/advise/bill.h"

#include <gtest/gtest.h>

namespace feedrate::tools {
namespace {

Bill epoch_of_imagenet() {
  return {.requests = 1'281'167,
          .bytes = 147'897'477'120,
          .blocks = 141'047,
          .images_per_second = 2000,
          .images = 1'281'167,
          .seconds_per_request = 0.03};
}

TEST(UnitBill, requests_and_bytes_are_charged_by_whoever_gives_the_prices) {
  Bill bill = epoch_of_imagenet();
  set_prices(bill, {}, "https://host/data/", false);
  EXPECT_FALSE(bill.price());
  EXPECT_NE(bill.text().find("What it costs is not known"), std::string::npos);
  set_prices(bill, {}, "s3://bucket/data/", true);
  EXPECT_FALSE(bill.price());
  set_prices(bill, {}, "s3://bucket/data/", false);
  EXPECT_NEAR(bill.price().value(), 0.512, 0.001);
  EXPECT_NEAR(bill.price_with_cache().value(), 0.056, 0.001);
  EXPECT_NE(bill.text().find("An epoch costs $0.51; with the cache all of them together $0.056"),
            std::string::npos)
      << bill.text();
  EXPECT_NE(bill.text().find(s3_price_source), std::string::npos);
  set_prices(bill, {.gigabyte = 0.09}, "s3://bucket/data/", false);
  EXPECT_NEAR(bill.price().value(), 13.31, 0.01);
  EXPECT_EQ(bill.price_source, own_price_source);
}

TEST(UnitBill, connections_follow_from_latency_and_rate) {
  const Bill bill = epoch_of_imagenet();
  EXPECT_NEAR(bill.connections().value(), 60, 1e-9);
  EXPECT_NE(bill.text().find("60 connections"), std::string::npos) << bill.text();
  EXPECT_NEAR(bill.bytes_per_second(), 2000 * 115'439.7, 1e3);
}

TEST(UnitBill, what_opening_takes_is_told) {
  Bill bill = epoch_of_imagenet();
  EXPECT_EQ(bill.text().find("To open"), std::string::npos);
  bill.opening_requests = 7;
  bill.opening_bytes = 5 << 20;
  EXPECT_NE(bill.text().find("To open the dataset, a process asked for 7 ranges and 5.0 MiB."),
            std::string::npos)
      << bill.text();
}

TEST(UnitBill, files_that_come_as_a_whole_are_paid_for_once_a_process) {
  Bill bill = epoch_of_imagenet();
  bill.requests = 17'632;
  bill.at_opening = true;
  set_prices(bill, {}, "s3://bucket/data/", false);
  EXPECT_FALSE(bill.connections());
  EXPECT_EQ(bill.bytes_per_second(), 0);
  for (const char* words : {"A process asks the server for 17,632 ranges", "epochs ask for nothing",
                            "A process costs $0.0071;"}) {
    EXPECT_NE(bill.text().find(words), std::string::npos) << bill.text();
  }
}

}  // namespace
}  // namespace feedrate::tools
