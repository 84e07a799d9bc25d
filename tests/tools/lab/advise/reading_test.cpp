#include "tools/lab/advise/reading.h"

#include <gtest/gtest.h>

namespace feedrate::tools {
namespace {

constexpr double mib = 1 << 20;
constexpr std::uint64_t images = 1000;

/// 100 KiB an image; two threads that would give 2,000 images/s if they never waited, and give 500.
Variant slow_server() {
  Variant variant;
  variant.at_max = {
      .threads = 2, .rates = {500}, .images = 500, .read = 3e-3, .decode = 8e-4, .augment = 2e-4};
  variant.at_min = variant.at_max;
  variant.bytes = images * 100 * 1024;
  variant.remote = true;
  return variant;
}

Reading reading(loader::Limit limit, const ByBlocks& server, double demand) {
  Prediction now;
  now.delivered = 500;
  now.verdict.limit = limit;
  return choose_reading(slow_server(), now, {.demand = demand}, images, server);
}

constexpr double any_rate = std::numeric_limits<double>::infinity();

TEST(UnitReading, a_server_that_is_not_the_limit_is_read_where_it_lies) {
  for (const auto limit : {loader::Limit::trainer, loader::Limit::decode, loader::Limit::cores}) {
    const Reading found = reading(limit, {10 * mib}, any_rate);
    EXPECT_EQ(found.way, Way::full);
    EXPECT_NE(found.text().find("where it lies"), std::string::npos) << found.text();
  }
}

TEST(UnitReading, blocks_are_advised_where_the_server_gives_enough_of_them) {
  const Reading found = reading(loader::Limit::network, {200 * mib}, any_rate);
  EXPECT_EQ(found.way, Way::blocks);
  EXPECT_DOUBLE_EQ(found.wanted, 2000);
  EXPECT_DOUBLE_EQ(found.blocks.value(), 2048);
  EXPECT_EQ(found.block_images, 11U) << "not less than a MiB";
  EXPECT_EQ(found.text(),
            "One request a sample, the server gives 500 of the 2,000 images/s wanted; by blocks of "
            "1 MiB it gave as many bytes as 2,048: read it with --cache-dir and --shuffle-blocks "
            "11.");
}

TEST(UnitReading, what_the_consumer_takes_is_enough) {
  EXPECT_EQ(reading(loader::Limit::network, {80 * mib}, 800).way, Way::blocks);
  EXPECT_EQ(reading(loader::Limit::network, {80 * mib}, any_rate).way, Way::copy);
}

TEST(UnitReading, a_copy_is_advised_where_the_server_is_too_slow_either_way) {
  const Reading found = reading(loader::Limit::network, {50 * mib}, any_rate);
  EXPECT_EQ(found.way, Way::copy);
  EXPECT_NEAR(found.seconds_to_copy.value(), 1.95, 0.01);
  EXPECT_NE(found.text().find("copy it to this machine first, which takes about"),
            std::string::npos)
      << found.text();
  const Reading unknown = reading(loader::Limit::network, {}, any_rate);
  EXPECT_EQ(unknown.way, Way::copy);
  EXPECT_EQ(unknown.text(),
            "One request a sample, the server gives 500 of the 2,000 images/s wanted: copy it to "
            "this machine first.");
}

TEST(UnitReading, behind_a_cache_only_the_first_epoch_waits_for_the_server) {
  const Reading found = reading(loader::Limit::network, {.cached = true}, any_rate);
  EXPECT_EQ(found.way, Way::blocks);
  EXPECT_EQ(
      found.text(),
      "One request a sample, the server gives 500 of the 2,000 images/s wanted in the first "
      "epoch, later ones come from the cache: read it with --shuffle-blocks 11, for which the "
      "first one asks for whole blocks.");
  EXPECT_EQ(reading(loader::Limit::trainer, {.cached = true}, any_rate).way, Way::full);
}

}  // namespace
}  // namespace feedrate::tools
