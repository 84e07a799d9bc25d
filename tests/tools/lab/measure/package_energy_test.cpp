#include "tools/lab/measure/package_energy.h"

#include <gtest/gtest.h>

#include "tests/tools/powercap.h"

namespace feedrate::tools {
namespace {

using testing::FakePowercap;

TEST(UnitPackageEnergy, sums_whole_packages_without_their_parts_or_the_board) {
  const FakePowercap powercap;
  const auto turn = [&](std::uint64_t to) {
    powercap.counter("intel-rapl:0", "package-0", to);
    powercap.counter("intel-rapl:1", "package-1", 2 * to);
    powercap.counter("intel-rapl:0:0", "core", 10 * to);
    powercap.counter("intel-rapl:2", "psys", 100 * to);
    powercap.counter("intel-rapl-mmio:0", "package-0", 1000 * to);
  };
  turn(1'000'000);
  PackageEnergy energy;
  EXPECT_EQ(energy.joules(), 0.0);
  turn(3'000'000);
  EXPECT_DOUBLE_EQ(energy.joules().value(), 6.0);
}

TEST(UnitPackageEnergy, a_counter_that_overflows_repeatedly_is_followed) {
  const FakePowercap powercap;
  powercap.counter("intel-rapl:0", "package-0", 900, 1000);
  PackageEnergy energy;
  for (int round = 1; round <= 5; ++round) {
    powercap.counter("intel-rapl:0", "package-0", 100, 1000);
    EXPECT_DOUBLE_EQ(energy.joules().value(), (1000 * round - 800) * 1e-6);
    powercap.counter("intel-rapl:0", "package-0", 900, 1000);
    EXPECT_DOUBLE_EQ(energy.joules().value(), 1000 * round * 1e-6);
  }
}

TEST(UnitPackageEnergy, without_counters_nothing_is_known) {
  const FakePowercap empty;
  EXPECT_EQ(PackageEnergy().joules(), std::nullopt);
  setenv("FEEDRATE_POWERCAP", "/nowhere", 1);
  EXPECT_EQ(PackageEnergy().joules(), std::nullopt);
}

TEST(HostilePackageEnergy, one_unreadable_package_leaves_no_sum) {
  const FakePowercap powercap;
  powercap.counter("intel-rapl:0", "package-0", 5);
  powercap.counter("intel-rapl:1", "package-1", 5);
  PackageEnergy energy;
  powercap.forget("intel-rapl:1", "energy_uj");
  EXPECT_EQ(energy.joules(), std::nullopt);
  EXPECT_EQ(PackageEnergy().joules(), std::nullopt);
  powercap.counter("intel-rapl:1", "package-1", 6);
  EXPECT_EQ(energy.joules(), std::nullopt) << "what was missed is not known later either";
}

TEST(HostilePackageEnergy, malformed_and_impossible_counters_give_nothing) {
  for (const char* text : {"", "joules", "-5", "1.5", "99999999999999999999999"}) {
    const FakePowercap powercap;
    powercap.counter("intel-rapl:0", "package-0", 5);
    PackageEnergy energy;
    powercap.write("intel-rapl:0", "energy_uj", text);
    EXPECT_EQ(energy.joules(), std::nullopt) << text;
  }
  for (const char* range : {"", "none", "7"}) {  // 7: less than the counter's value
    const FakePowercap powercap;
    powercap.counter("intel-rapl:0", "package-0", 500);
    PackageEnergy energy;
    powercap.counter("intel-rapl:0", "package-0", 3);
    powercap.write("intel-rapl:0", "max_energy_range_uj", range);
    EXPECT_EQ(energy.joules(), std::nullopt) << range;
  }
}

}  // namespace
}  // namespace feedrate::tools
