#pragma once
// What a process spends, looked at ten times a second and whenever the clock of a run starts or
// stops: what is told of a part of the run is of that part alone. The clock is the steps' own,
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

#include "tools/measure/package_energy.h"
#include "tools/measure/telemetry.h"
#include "trainer/backends/backend.h"

namespace feedrate::tools {

class Nvml;

enum class Section : std::uint8_t { start_up, measured, paused };

struct SamplerOptions {
  std::string device = "cpu";  // "cuda": its GPU is asked too
  /// Of a session, asked only in the calls below, by their thread.
  std::function<std::optional<trainer::Transfers>()> transfers{};
  std::chrono::milliseconds period{100};
  std::filesystem::path proc = "/proc";
};

/// Begins in Section::start_up. One thread calls; another, of its own, looks. Where no thread can
/// be had, what is seen at the borders is all that is told. Destruction at any moment joins it.
class Sampler {
 public:
  explicit Sampler(SamplerOptions options = {});
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// From now on it belongs to that section, as often as they come.
  void enter(Section section);
  /// For a source's consumer: its clock starts when batch 1 is asked for, since the first pays for
  /// what every later one finds ready.
  void asked(std::uint64_t batch) {
    if (batch == 1) enter(Section::measured);
  }

  /// Of all measured sections, until now; nothing when there was none.
  Telemetry measured();
  /// The same with the start-up: of a run so short that its clock starts with it.
  Telemetry measured_from_start();

 private:
  using Clock = std::chrono::steady_clock;
  // What only grows: of a section it is the difference.
  enum Counter : std::uint8_t {
    cpu_seconds,
    read_bytes,
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
  // What goes up and down: the most of it, or the mean.
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
  struct Seen {
    double sum = 0, most = 0;
    std::uint64_t count = 0;
  };
  struct Sums {
    Sums() { spent.fill(0.0); }
    void add(const Sums& other);
    double seconds = 0;
    Reading spent;  // absent for good when a reading was
    std::array<Seen, gauges> seen{};
    std::optional<std::uint64_t> throttle;
  };
  enum class By : std::uint8_t { caller, own_thread };

  Reading read(By who);
  void tick(By who);
  void look(Sums& sums) const;
  void watch(const std::stop_token& stop);
  static Telemetry told(const Sums& sums);

  SamplerOptions options_;
  std::unique_ptr<Nvml> nvml_;  // null: no GPU
  PackageEnergy packages_;
  std::mutex mutex_;  // guards all that follows
  std::condition_variable_any wake_;
  Clock::time_point time_;
  Reading last_{};
  Section section_ = Section::start_up;
  std::array<Sums, 3> sums_{};  // by section
  std::jthread thread_;         // last: it ends before the rest goes
};

}  // namespace feedrate::tools
