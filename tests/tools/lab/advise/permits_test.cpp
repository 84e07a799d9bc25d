// What each part of a machine permits, and how half of its cores are hidden. Machines are made up.

#include "tools/lab/advise/permits.h"

#include <gtest/gtest.h>
#include <thread>

#include "formats/base/cores.h"
#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"
#include "tools/lab/advise/hidden_cores.h"

namespace feedrate::tools {
using namespace formats;

namespace {

using testing::TempDirectory;

/// 1,000 images of 1,000 bytes; four threads supply 4,000 a second.
Variant thousand(std::uint64_t bytes = 1'000'000) {
  return {.name = "made up",
          .at_min = {.threads = 1, .rates = {1000}},
          .at_max = {.threads = 4, .rates = {4000}},
          .bytes = bytes};
}

constexpr Moved moved{.images = 1000, .batch_bytes = 1000};

std::vector<std::string_view> parts(const std::vector<Permit>& permits) {
  std::vector<std::string_view> names;
  for (const Permit& one : permits) names.push_back(one.part);
  return names;
}

TEST(UnitPermits, the_part_that_permits_least_is_the_limit) {
  using Names = std::vector<std::string_view>;
  Host host{.memory_bytes = 500'000, .memory = 40e6, .memory_saturated = true, .storage = 2e6};
  std::vector<Permit> found = permits(thousand(), moved, host);
  EXPECT_EQ(parts(found), (Names{"storage", "cores", "memory bandwidth"}));
  EXPECT_DOUBLE_EQ(found[0].images_per_second, 2000);
  EXPECT_DOUBLE_EQ(found[2].images_per_second, 10'000);  // 4,000 bytes move for an image
  EXPECT_EQ(first_limit(found, 2000), nullptr);
  EXPECT_EQ(first_limit(found, 2001)->part, "storage");
  host.memory = 4e6;
  EXPECT_EQ(first_limit(permits(thousand(), moved, host), 3000)->part, "memory bandwidth");
  host.memory_saturated = false;  // then more cores may well copy more
  EXPECT_EQ(first_limit(permits(thousand(), moved, host), 3000)->part, "storage");
}

TEST(UnitPermits, storage_is_no_limit_of_what_memory_holds) {
  const std::vector<Permit> found =
      permits(thousand(), moved, {.memory_bytes = 2'000'000, .memory = {}, .storage = 1e3});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].part, "storage");
  EXPECT_FALSE(found[1].always);
  EXPECT_EQ(first_limit(found, 5000)->part, "cores");
  EXPECT_EQ(first_limit(found, 100), nullptr);
}

TEST(UnitPermits, a_server_permits_what_came_and_more_unless_it_was_waited_for) {
  Variant remote = thousand();
  remote.remote = true;
  remote.at_max.read = 1e-3;
  std::vector<Permit> found =
      permits(remote, moved, {.memory_bytes = 0, .memory = {}, .storage = 1e9});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_FALSE(found[1].at_least);
  remote.at_max.decode = 2e-3;
  found = permits(remote, moved, {.memory_bytes = 0, .memory = {}, .storage = 1e9});
  EXPECT_TRUE(found[1].at_least);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].part, "network");
  EXPECT_DOUBLE_EQ(found[1].images_per_second, 4000);
  EXPECT_DOUBLE_EQ(found[1].per_second.value(), 4e6);
}

TEST(UnitPermits, what_was_not_measured_is_left_out) {
  EXPECT_EQ(permits(thousand(), moved, {}).size(), 1U);
  EXPECT_EQ(permits(thousand(0), {}, {.memory_bytes = 1, .memory = 1e9, .storage = 1e9}).size(),
            1U);
}

TEST(UnitHiddenCores, whole_cores_remain) {
  const std::vector<std::vector<int>> pairs{{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  EXPECT_EQ(remaining(pairs, 4), (std::vector{0, 4, 1, 5}));
  EXPECT_EQ(remaining(pairs, 1), (std::vector{0}));
  EXPECT_EQ(remaining({{3}}, 2), (std::vector{3}));
}

TEST(UnitHiddenCores, threads_see_half_of_them_and_then_all_again) {
  const unsigned before = usable_cores();
  {
    const HiddenCores hidden(before / 2);
    EXPECT_EQ(hidden.seen(), before / 2);
    if (hidden.seen() == 0) GTEST_SKIP() << "one core";
    EXPECT_EQ(usable_cores(), hidden.seen());
    unsigned in_thread = 0;
    std::thread([&] { in_thread = usable_cores(); }).join();
    EXPECT_EQ(in_thread, hidden.seen());
  }
  EXPECT_EQ(usable_cores(), before);
}

TEST(UnitHiddenCores, as_many_as_are_asked_for_remain) {
  const unsigned before = usable_cores();
  EXPECT_EQ(hide_all_but(0), nullptr);
  EXPECT_EQ(hide_all_but(before), nullptr);
  testing::expect_error([&] { hide_all_but(before + 1); }, {"cores: ", " can be used"});
  if (before == 1) GTEST_SKIP() << "one core";
  {
    const std::unique_ptr<HiddenCores> hidden = hide_all_but(1);
    EXPECT_EQ(usable_cores(), 1U);
  }
  EXPECT_EQ(usable_cores(), before);
}

TEST(UnitHost, storage_is_read_past_the_page_cache_or_not_at_all) {
  const TempDirectory directory;
  const auto file = directory / "data";
  write_text(file, std::string(1 << 20, 'x'));
  EXPECT_GT(storage_rate({{file}}, 5000, 0.05).value_or(1), 0);
  EXPECT_FALSE(storage_rate({}, 5000, 0.05));
  EXPECT_FALSE(storage_rate({{directory / "missing"}}, 5000, 0.05));
}

}  // namespace
}  // namespace feedrate::tools
