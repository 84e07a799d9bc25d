#include "tools/lab/measure/sampler.h"

#include <algorithm>
#include <system_error>

#include "formats/base/pages.h"
#include "tools/console/text.h"
#include "tools/lab/measure/nvml.h"
#include "tools/lab/measure/proc.h"
#include "trainer/backends/backend.h"

namespace feedrate::tools {
using namespace loader;
using namespace trainer;

namespace {

constexpr double mib = 1024.0 * 1024.0;

std::optional<double> as_double(const std::optional<std::uint64_t>& value) {
  return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
}

std::optional<double> scaled(std::optional<double> value, double by, int digits) {
  if (value) value = rounded(*value * by, digits);
  return value;
}

}  // namespace

Sampler::Sampler(SamplerOptions options) : options_(std::move(options)) {
  if (options_.device == "cuda")
    nvml_ = std::make_unique<Nvml>(trainer::backend("cuda").pci_bus_id());
  time_ = Clock::now();
  last_ = read_counters(CalledBy::caller);
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { sample_until(stop); });
  } catch (const std::system_error&) {
    // Measuring works without it: the borders of sections are still sampled.
  }
}

Sampler::~Sampler() = default;

void Sampler::sample_until(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  Clock::time_point due = Clock::now();
  while (!stop.stop_requested()) {
    due = std::max(due + options_.period, Clock::now());  // missed samples are not made up for
    wake_.wait_until(lock, stop, due, [] { return false; });
    if (!stop.stop_requested()) sample(CalledBy::own_thread);
  }
}

Sampler::Reading Sampler::read_counters(CalledBy who) {
  Reading now;
  now[cpu_seconds] = process_cpu_seconds();
  const auto counter = [this](const char* file, const auto& parse) {
    const std::optional<std::string> text = text_of(options_.proc / file);
    return text ? as_double(parse(*text)) : std::nullopt;
  };
  now[read_bytes] = counter("self/io", io_read_bytes);
  if (const auto time = core_time_of_threads(options_.proc / "self/task")) {
    now[core_ran] = time->ran;
    now[core_waited] = time->waited;
  }
  const std::optional<std::string> stat = text_of(options_.proc / "stat");
  if (const auto time = stat ? machine_time(*stat) : std::nullopt) {
    now[core_all] = time->all;
    now[core_stolen] = time->stolen;
  }
  now[wait_cpu] = counter("pressure/cpu", pressure_total);
  now[wait_io] = counter("pressure/io", pressure_total);
  now[wait_memory] = counter("pressure/memory", pressure_total);
  now[cpu_energy] = packages_.joules();
  if (nvml_) now[gpu_energy] = nvml_->energy_j();
  if (who == CalledBy::own_thread) {
    std::copy(last_.begin() + up_count, last_.end(), now.begin() + up_count);
  } else if (const auto moved = options_.transfers ? options_.transfers() : std::nullopt) {
    now[up_count] = static_cast<double>(moved->up.count);
    now[up_bytes] = static_cast<double>(moved->up.bytes);
    now[up_seconds] = moved->up.seconds;
    now[down_count] = static_cast<double>(moved->down.count);
    now[down_bytes] = static_cast<double>(moved->down.bytes);
    now[down_seconds] = moved->down.seconds;
  }
  return now;
}

void Sampler::read_gauges(Sums& sums) const {
  const auto add = [&](Gauge gauge, const std::optional<double>& value) {
    if (!value) return;
    GaugeSums& seen = sums.gauges_seen[gauge];
    seen.sum += *value;
    seen.max = std::max(seen.max, *value);
    ++seen.count;
  };
  const auto statm = text_of(options_.proc / "self/statm");
  const auto pages = statm ? resident_pages(*statm) : std::nullopt;
  if (pages) add(rss, static_cast<double>(*pages) * static_cast<double>(formats::page_bytes()));
  if (!nvml_) return;
  add(gpu_memory, nvml_->memory_used_mib());
  add(gpu_own_memory, nvml_->own_memory_mib());
  add(gpu_power, nvml_->power_w());
  add(gpu_utilisation, nvml_->utilisation_percent());
  add(gpu_clock, nvml_->clock_mhz());
  if (const auto reasons = nvml_->throttle_reasons()) {
    sums.throttle = sums.throttle.value_or(0) | *reasons;
  }
}

// What was spent since the last sample belongs to the section that is ending or going on.
void Sampler::sample(CalledBy who) {
  const Reading now = read_counters(who);
  const Clock::time_point time = Clock::now();
  Sums& sums = sums_[static_cast<std::size_t>(section_)];
  sums.seconds += std::chrono::duration<double>(time - time_).count();
  for (std::size_t i = 0; i < counters; ++i) {
    std::optional<double>& spent = sums.spent[i];
    if (now[i] && last_[i] && spent) {
      *spent += std::max(0.0, *now[i] - *last_[i]);  // less where a thread has ended
    } else {
      spent.reset();
    }
  }
  read_gauges(sums);
  last_ = now;
  time_ = time;
}

void Sampler::enter(Section section) {
  const std::lock_guard lock(mutex_);
  sample(CalledBy::caller);
  section_ = section;
}

void Sampler::Sums::add(const Sums& other) {
  seconds += other.seconds;
  for (std::size_t i = 0; i < counters; ++i) {
    spent[i] =
        spent[i] && other.spent[i] ? std::optional(*spent[i] + *other.spent[i]) : std::nullopt;
  }
  for (std::size_t i = 0; i < gauges; ++i) {
    const GaugeSums& added = other.gauges_seen[i];
    gauges_seen[i].sum += added.sum;
    gauges_seen[i].max = std::max(gauges_seen[i].max, added.max);
    gauges_seen[i].count += added.count;
  }
  if (other.throttle) throttle = throttle.value_or(0) | *other.throttle;
}

Telemetry Sampler::measured() {
  const std::lock_guard lock(mutex_);
  sample(CalledBy::caller);
  return telemetry_of(sums_[static_cast<std::size_t>(Section::measured)]);
}

Telemetry Sampler::measured_from_start() {
  const std::lock_guard lock(mutex_);
  sample(CalledBy::caller);
  Sums sums = sums_[static_cast<std::size_t>(Section::start_up)];
  sums.add(sums_[static_cast<std::size_t>(Section::measured)]);
  return telemetry_of(sums);
}

Telemetry Sampler::telemetry_of(const Sums& sums) {
  if (sums.seconds <= 0) return {};
  const auto max = [&](Gauge gauge) {
    const GaugeSums& seen = sums.gauges_seen[gauge];
    return seen.count > 0 ? std::optional(seen.max) : std::nullopt;
  };
  const auto mean = [&](Gauge gauge) {
    const GaugeSums& seen = sums.gauges_seen[gauge];
    return seen.count > 0 ? std::optional(seen.sum / static_cast<double>(seen.count))
                          : std::nullopt;
  };
  const auto whole = [&](Counter counter) {
    const std::optional<double>& spent = sums.spent[counter];
    return spent ? std::optional(static_cast<std::uint64_t>(*spent)) : std::nullopt;
  };
  const auto per_second = [&](Counter bytes, Counter seconds) -> std::optional<double> {
    if (!sums.spent[bytes] || sums.spent[seconds].value_or(0) <= 0) return std::nullopt;
    return rounded(*sums.spent[bytes] / *sums.spent[seconds] * 1e-9, 3);
  };
  // A power reading is the mean of a second, and some sensors see only a quarter of it: over a
  // longer run, energy is more accurate.
  constexpr double enough_seconds = 2;
  const std::optional<double>& joules = sums.spent[gpu_energy];
  const auto power = joules && sums.seconds >= enough_seconds ? scaled(joules, 1 / sums.seconds, 3)
                                                              : scaled(mean(gpu_power), 1, 3);
  const double percent_of_micro = 1e-6 * 100 / sums.seconds;
  const auto percent_of = [&](Counter part, double all) -> std::optional<double> {
    if (!sums.spent[part] || all <= 0) return std::nullopt;
    return rounded(100 * *sums.spent[part] / all, 2);
  };
  return {
      .cpu_seconds = scaled(sums.spent[cpu_seconds], 1, 6),
      .peak_rss_mib = scaled(max(rss), 1 / mib, 1),
      .read_mib = scaled(sums.spent[read_bytes], 1 / mib, 3),
      .core_wait_percent = percent_of(
          core_waited, sums.spent[core_ran].value_or(0) + sums.spent[core_waited].value_or(0)),
      .steal_percent = percent_of(core_stolen, sums.spent[core_all].value_or(0)),
      .psi_cpu_percent = scaled(sums.spent[wait_cpu], percent_of_micro, 3),
      .psi_io_percent = scaled(sums.spent[wait_io], percent_of_micro, 3),
      .psi_memory_percent = scaled(sums.spent[wait_memory], percent_of_micro, 3),
      .cpu_energy_j = scaled(sums.spent[cpu_energy], 1, 3),
      .planned_memory_mib = {},
      .gpu_memory_mib = scaled(max(gpu_memory), 1, 1),
      .gpu_own_memory_mib = scaled(max(gpu_own_memory), 1, 1),
      .gpu_power_w = power,
      .gpu_energy_j = scaled(joules, 1, 3),
      .gpu_utilisation_percent = scaled(mean(gpu_utilisation), 1, 1),
      .gpu_clock_mhz = scaled(mean(gpu_clock), 1, 0),
      .gpu_throttle = sums.throttle ? std::optional(throttle_text(*sums.throttle)) : std::nullopt,
      .upload_count = whole(up_count),
      .upload_mib = scaled(sums.spent[up_bytes], 1 / mib, 3),
      .upload_gb_per_s = per_second(up_bytes, up_seconds),
      .upload_seconds = scaled(sums.spent[up_seconds], 1, 6),
      .download_count = whole(down_count),
      .download_mib = scaled(sums.spent[down_bytes], 1 / mib, 3),
      .download_gb_per_s = per_second(down_bytes, down_seconds),
      .download_seconds = scaled(sums.spent[down_seconds], 1, 6)};
}

}  // namespace feedrate::tools
