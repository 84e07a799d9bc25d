#include "tools/lab/measure/nvml.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/places.h"

namespace feedrate::tools {
namespace {

namespace fs = std::filesystem;

/// Sets the library that Nvml opens, for the duration of a test.
class UnitNvml : public ::testing::Test {
 protected:
  static void use(const std::string& library) {
    const fs::path beside = feedrate::testing::beside_this_program(library);
    setenv("FEEDRATE_NVML", (fs::exists(beside) ? beside : fs::path(library)).c_str(), 1);
  }
  void TearDown() override {
    unsetenv("FEEDRATE_NVML");
    unsetenv("FEEDRATE_FAKE_NVML_FAILS");
  }
};

TEST_F(UnitNvml, reads_the_first_gpu_in_our_units) {
  use("libfake_nvml.so");
  const Nvml nvml;
  ASSERT_TRUE(nvml.available()) << nvml.problem();
  EXPECT_EQ(nvml.name(), "Fake GPU 0");
  EXPECT_EQ(nvml.driver_version(), "580.65.06");
  EXPECT_DOUBLE_EQ(nvml.memory_used_mib().value(), 750);
  EXPECT_DOUBLE_EQ(nvml.power_w().value(), 123.456);
  EXPECT_DOUBLE_EQ(nvml.energy_j().value(), 7654.321);
  EXPECT_DOUBLE_EQ(nvml.utilisation_percent().value(), 87);
  EXPECT_DOUBLE_EQ(nvml.clock_mhz().value(), 1755);
  EXPECT_EQ(throttle_text(nvml.throttle_reasons().value()),
            "software power cap, hardware thermal slowdown");
}

TEST_F(UnitNvml, idle_and_user_set_clocks_are_not_throttled) {
  EXPECT_EQ(throttle_text(0), "none");
  EXPECT_EQ(throttle_text(0x1 | 0x2 | 0x100), "none");  // idle, or set by the user
  EXPECT_EQ(throttle_text(0x80), "hardware power brake");
  EXPECT_EQ(throttle_text(0x1000 | 0x8), "hardware slowdown, unknown reason 0x1000");
}

TEST_F(UnitNvml, finds_this_process_among_more_than_fit_its_first_buffer) {
  use("libfake_nvml.so");
  EXPECT_DOUBLE_EQ(Nvml().own_memory_mib().value(), 321);
}

TEST_F(UnitNvml, finds_a_gpu_by_its_pci_bus_id) {
  use("libfake_nvml.so");
  EXPECT_EQ(Nvml("0000:2C:00.0").name(), "Fake GPU 1");
}

TEST_F(UnitNvml, a_gpu_that_is_not_there_is_not_replaced_by_another) {
  use("libfake_nvml.so");
  const Nvml nvml("0000:FF:00.0");
  EXPECT_FALSE(nvml.available());
  EXPECT_NE(nvml.problem().find("Not Found"), std::string::npos) << nvml.problem();
  EXPECT_EQ(nvml.power_w(), std::nullopt);
}

TEST_F(UnitNvml, what_an_old_driver_lacks_is_absent_and_not_zero) {
  use("libfake_old_nvml.so");
  const Nvml nvml;
  ASSERT_TRUE(nvml.available()) << nvml.problem();
  EXPECT_EQ(nvml.energy_j(), std::nullopt);
  EXPECT_EQ(nvml.own_memory_mib(), std::nullopt);
  EXPECT_EQ(nvml.throttle_reasons(), std::nullopt);
  EXPECT_TRUE(nvml.power_w().has_value());
}

TEST_F(UnitNvml, a_driver_that_does_not_start_says_why) {
  use("libfake_nvml.so");
  setenv("FEEDRATE_FAKE_NVML_FAILS", "1", 1);
  const Nvml nvml;
  EXPECT_FALSE(nvml.available());
  EXPECT_NE(nvml.problem().find("Driver Not Loaded"), std::string::npos) << nvml.problem();
  EXPECT_EQ(nvml.name(), std::nullopt);
}

TEST_F(UnitNvml, a_missing_library_leaves_everything_absent_and_says_so) {
  use("libfeedrate-no-such-nvml.so.1");
  const Nvml nvml;
  EXPECT_FALSE(nvml.available());
  EXPECT_NE(nvml.problem().find("libfeedrate-no-such-nvml.so.1"), std::string::npos)
      << nvml.problem();
  EXPECT_EQ(nvml.driver_version(), std::nullopt);
  EXPECT_EQ(nvml.memory_used_mib(), std::nullopt);
  EXPECT_EQ(nvml.own_memory_mib(), std::nullopt);
  EXPECT_EQ(nvml.energy_j(), std::nullopt);
  EXPECT_EQ(nvml.utilisation_percent(), std::nullopt);
}

TEST_F(UnitNvml, a_library_that_is_not_nvml_is_refused) {
  use("libm.so.6");
  const Nvml nvml;
  EXPECT_FALSE(nvml.available());
  EXPECT_NE(nvml.problem().find("nvmlInit_v2"), std::string::npos) << nvml.problem();
}

}  // namespace
}  // namespace feedrate::tools
