#pragma once
// Samples what this process consumes, ten times a second and at every border between sections of a
// run, so that what is reported for a section belongs to it alone. The clock is that of the steps,
// std::chrono::steady_clock.
//
//      start-up       on the clock      paused      on the clock
//   ├─ first step ─┼──────────────────┼─────────┼────────────────────┤ measured()
//                 enter()           enter()    enter()

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "tools/lab/measure/package_energy.h"
#include "tools/lab/measure/telemetry.h"
#include "trainer/backends/backend.h"

namespace feedrate::tools {

class Nvml;

enum class Section : std::uint8_t { start_up, measured, paused };

struct SamplerOptions {
  std::string device = "cpu";  // "cuda": samples its GPU too
  /// Copies of the session so far; called only from the methods below, in the caller's thread.
  std::function<std::optional<trainer::Transfers>()> transfers{};
  std::chrono::milliseconds period{100};
  std::filesystem::path proc = "/proc";
};

/// Begins in Section::start_up. For one calling thread; a thread of its own takes the periodic
/// samples. Where that thread cannot be started, only the borders are sampled. The destructor joins
/// it at once.
class Sampler {
 public:
  explicit Sampler(SamplerOptions options = {});
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// Ends the current section and begins another. Sections of the same name are summed.
  void enter(Section section);
  /// For a consumer of batches: its clock starts when batch 1 is asked for, since batch 0 pays for
  /// the set-up.
  void asked(std::uint64_t batch) {
    if (batch == 1) enter(Section::measured);
  }

  /// Totals of all measured sections so far; empty when there was none.
  Telemetry measured();
  /// The same including the start-up, for a run too short to have a section of its own.
  Telemetry measured_from_start();

 private:
  using Clock = std::chrono::steady_clock;
  // Values that only grow: a section's share is a difference.
  enum Counter : std::uint8_t {
    cpu_seconds,
    read_bytes,
    core_ran,
    core_waited,
    core_all,
    core_stolen,
    wait_cpu,
    wait_io,
    wait_memory,
    cpu_energy,
    gpu_energy,
    up_count,
    up_bytes,
    up_seconds,
    down_count,
    down_bytes,
    down_seconds,
    counters
  };
  // Values that go up and down: reported as a maximum or a mean.
  enum Gauge : std::uint8_t {
    rss,
    gpu_memory,
    gpu_own_memory,
    gpu_power,
    gpu_utilisation,
    gpu_clock,
    gauges
  };
  using Reading = std::array<std::optional<double>, counters>;
  struct GaugeSums {
    double sum = 0, max = 0;
    std::uint64_t count = 0;
  };
  struct Sums {
    Sums() { spent.fill(0.0); }
    void add(const Sums& other);
    double seconds = 0;
    Reading spent;  // absent once a reading was absent
    std::array<GaugeSums, gauges> gauges_seen{};
    std::optional<std::uint64_t> throttle;
  };
  enum class CalledBy : std::uint8_t { caller, own_thread };

  Reading read_counters(CalledBy who);
  void read_gauges(Sums& sums) const;
  void sample(CalledBy who);
  void sample_until(const std::stop_token& stop);
  static Telemetry telemetry_of(const Sums& sums);

  SamplerOptions options_;
  std::unique_ptr<Nvml> nvml_;  // null: not on a GPU
  PackageEnergy packages_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable_any wake_;
  Clock::time_point time_;
  Reading last_{};
  Section section_ = Section::start_up;
  std::array<Sums, 3> sums_{};  // by section
  std::jthread thread_;         // last: ends before the rest is destroyed
};

}  // namespace feedrate::tools
