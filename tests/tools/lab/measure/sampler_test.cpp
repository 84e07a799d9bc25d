#include "tools/lab/measure/sampler.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "tests/support/places.h"
#include "tests/tools/powercap.h"
#include "tools/lab/measure/proc.h"

namespace feedrate::tools {
using namespace trainer;

namespace {

using namespace std::chrono_literals;
using testing::FakePowercap;
using testing::TempDirectory;

constexpr auto never = 1h;  // no periodic samples: only those of the calls

/// The part of /proc that the sampler reads.
class FakeProc {
 public:
  FakeProc() {
    std::filesystem::create_directories(directory_ / "self");
    std::filesystem::create_directories(directory_ / "pressure");
    turn(0, 0);
  }
  void turn(std::uint64_t read_bytes, std::uint64_t waited_us, std::uint64_t pages = 512) const {
    std::ofstream(directory_ / "self/io") << "rchar: 1\nread_bytes: " << read_bytes << "\n";
    std::ofstream(directory_ / "self/statm") << "9999 " << pages << " 1 1 0 1 0\n";
    for (const char* what : {"cpu", "io", "memory"}) {
      std::ofstream(directory_.path() / "pressure" / what) << "some total=" << waited_us << "\n";
    }
  }
  const std::filesystem::path& path() const { return directory_.path(); }

 private:
  TempDirectory directory_;
};

void work(double cpu_seconds) {
  const double until = process_cpu_seconds() + cpu_seconds;
  while (process_cpu_seconds() < until) {
  }
}

TEST(UnitSampler, reports_what_measured_sections_spent_and_nothing_else) {
  const FakeProc proc;
  const FakePowercap powercap;
  powercap.counter("intel-rapl:0", "package-0", 0);
  Sampler sampler({.period = never, .proc = proc.path()});
  proc.turn(1 << 20, 1000, 100'000);  // start-up
  powercap.counter("intel-rapl:0", "package-0", 5'000'000);
  sampler.enter(Section::measured);
  proc.turn(3 << 20, 2000, 1024);
  powercap.counter("intel-rapl:0", "package-0", 6'500'000);
  sampler.enter(Section::paused);
  proc.turn(50 << 20, 900'000, 200'000);
  powercap.counter("intel-rapl:0", "package-0", 60'000'000);
  sampler.enter(Section::measured);
  proc.turn(51 << 20, 900'000, 2048);
  const Telemetry spent = sampler.measured();
  EXPECT_EQ(spent.read_mib, 3.0);
  EXPECT_EQ(spent.cpu_energy_j, 1.5);
  EXPECT_EQ(spent.peak_rss_mib, 2048.0 * 4096 / (1 << 20));
  EXPECT_GT(spent.psi_io_percent, 0);
  EXPECT_EQ(sampler.measured_from_start().read_mib, 4.0);
  EXPECT_EQ(sampler.measured_from_start().cpu_energy_j, 6.5);
}

TEST(UnitSampler, processor_time_and_waiting_are_those_of_the_window) {
  const FakeProc proc;
  Sampler sampler({.period = never, .proc = proc.path()});
  work(0.2);
  const auto start = std::chrono::steady_clock::now();
  sampler.enter(Section::measured);
  work(0.1);
  proc.turn(0, 50'000);
  const Telemetry spent = sampler.measured();
  const std::chrono::duration<double> lasted = std::chrono::steady_clock::now() - start;
  EXPECT_GE(spent.cpu_seconds.value(), 0.099);
  EXPECT_LT(spent.cpu_seconds.value(), 0.2);
  EXPECT_GE(spent.psi_memory_percent.value(), 100 * 0.05 / lasted.count() - 0.01);
}

TEST(UnitSampler, samples_by_itself_between_the_borders) {
  const FakeProc proc;
  Sampler sampler({.period = 1ms, .proc = proc.path()});
  sampler.enter(Section::measured);
  proc.turn(0, 0, 5000);
  std::this_thread::sleep_for(200ms);
  proc.turn(0, 0, 10);
  EXPECT_EQ(sampler.measured().peak_rss_mib, std::round(10 * 5000.0 * 4096 / (1 << 20)) / 10);
}

TEST(UnitSampler, a_run_that_was_never_on_the_clock_reports_nothing) {
  Sampler sampler;
  work(0.01);
  const Telemetry spent = sampler.measured();
  for_each_field(spent, [](std::string_view key, const auto& value, const About&) {
    EXPECT_FALSE(value) << key;
  });
  EXPECT_GT(sampler.measured_from_start().cpu_seconds, 0);
}

TEST(UnitSampler, what_the_system_does_not_report_is_absent_and_not_zero) {
  Sampler sampler({.proc = "/nowhere"});
  sampler.enter(Section::measured);
  const Telemetry spent = sampler.measured();
  EXPECT_TRUE(spent.cpu_seconds);
  EXPECT_FALSE(spent.read_mib || spent.peak_rss_mib || spent.psi_cpu_percent);
  EXPECT_FALSE(spent.gpu_power_w || spent.gpu_throttle || spent.upload_count);
}

TEST(UnitSampler, a_counter_missed_once_is_not_summed_up_from_the_rest) {
  const FakeProc proc;
  Sampler sampler({.period = never, .proc = proc.path()});
  sampler.enter(Section::measured);
  std::filesystem::remove(proc.path() / "self/io");
  sampler.enter(Section::measured);
  proc.turn(7 << 20, 0);
  EXPECT_FALSE(sampler.measured().read_mib);
}

TEST(UnitSampler, asks_the_gpu_of_a_run_on_one) {
  setenv("FEEDRATE_NVML", testing::beside_this_program("libfake_nvml.so").c_str(), 1);
  {
    Sampler sampler({.device = "cuda", .period = never});
    sampler.enter(Section::measured);
    const Telemetry spent = sampler.measured();
    EXPECT_EQ(spent.gpu_memory_mib, 750.0);
    EXPECT_EQ(spent.gpu_own_memory_mib, 321.0);
    EXPECT_EQ(spent.gpu_power_w, 123.456);
    EXPECT_EQ(spent.gpu_energy_j, 50.0);  // the fake's counter grows by 50 J at each reading
    EXPECT_EQ(spent.gpu_utilisation_percent, 87.0);
    EXPECT_EQ(spent.gpu_clock_mhz, 1755.0);
    EXPECT_EQ(spent.gpu_throttle, "software power cap, hardware thermal slowdown");
  }
  setenv("FEEDRATE_NVML", "/nowhere/libnvidia-ml.so.1", 1);
  {
    Sampler sampler({.device = "cuda"});
    sampler.enter(Section::measured);
    const Telemetry spent = sampler.measured();
    EXPECT_FALSE(spent.gpu_memory_mib || spent.gpu_energy_j || spent.gpu_throttle);
    EXPECT_TRUE(spent.cpu_seconds);
  }
  unsetenv("FEEDRATE_NVML");
}

TEST(UnitSampler, counts_a_sessions_copies_in_the_callers_thread_alone) {
  Transfers moved;
  const auto caller = std::this_thread::get_id();
  Sampler sampler({.transfers = [&]() -> std::optional<Transfers> {
                     EXPECT_EQ(std::this_thread::get_id(), caller);
                     return moved;
                   },
                   .period = 1ms});
  moved.up = {2, 1000, 0.5};
  sampler.enter(Section::measured);
  moved.up = {6, 1000 + (std::uint64_t{4} << 20), 0.504};
  std::this_thread::sleep_for(20ms);
  const Telemetry spent = sampler.measured();
  EXPECT_EQ(spent.upload_count, 4U);
  EXPECT_EQ(spent.upload_mib, 4.0);
  EXPECT_EQ(spent.upload_seconds, 0.004);
  EXPECT_EQ(spent.upload_gb_per_s, 1.049);
  EXPECT_EQ(spent.download_count, 0U);
  EXPECT_FALSE(spent.download_gb_per_s);  // nothing was copied from the device: no rate
}

TEST(UnitSampler, ends_at_once_when_a_run_is_left_by_an_exception) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(
      {
        Sampler sampler({.period = never});
        throw std::runtime_error("diverged");
      },
      std::runtime_error);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
}

}  // namespace
}  // namespace feedrate::tools
