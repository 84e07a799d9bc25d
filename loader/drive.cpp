#include "loader/drive.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "formats/base/bytes.h"
#include "formats/base/stop.h"
#include "formats/digests/digest.h"
#include "loader/emulated_host.h"
#include "loader/tuning/settling.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using Time = DriveClock::Time;
using Seconds = std::chrono::duration<double>;

constexpr double max_step = 1e9;  // seconds: longer waits could overflow the clock

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

rusage usage_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

// Reads a byte of every cache line. The caller keeps the sum, so that no read is optimised away.
unsigned touch(std::span<const std::byte> bytes) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < bytes.size(); i += cache_line) {
    sum += std::to_integer<unsigned>(bytes[i]);
  }
  return sum;
}

// A trainer of fixed speed: it computes on each batch for a fixed time, then takes the next. Its
// thread computes for a share of that time, then it sleeps. Waiting for the loader delays its schedule;
// overshooting a sleep does not. The end of the run cuts its last step.
class Pace {
 public:
  Pace(double images_per_second, double host_cores, DriveClock& clock)
      : rate_(images_per_second),
        threads_(static_cast<unsigned>(std::ceil(host_cores))),
        others_(std::max(threads_, 1U) - 1),
        share_(host_cores / std::max(threads_, 1U)),
        clock_(clock) {}
  void start(Time now, Time end) {
    due_ = now;
    end_ = end;
  }
  void waited() { due_ = std::max(due_, clock_.now()); }
  // The thread has computed since `processor_seconds`.
  void compute(std::uint32_t images, double processor_seconds) {
    const Seconds step(std::min(images / rate_, max_step));
    due_ += std::chrono::duration_cast<Time::duration>(step);
    const Time until = std::min(due_, end_);
    const double enough = processor_seconds + share_ * step.count();
    others_.add(share_ * step.count());
    while (share_ > 0 && !stop_requested() && clock_.now() < end_ &&
           clock_.processor_seconds() < enough) {
    }
    constexpr std::chrono::milliseconds attention{50};  // to a stop
    while (!stop_requested() && clock_.now() < until) {
      clock_.sleep_until(std::min(until, clock_.now() + attention));
    }
    cut_ = std::clamp(Seconds(due_ - std::min(clock_.now(), until)), Seconds(0), step).count();
    compute_ += step.count() - cut_;
  }
  double compute_seconds() const { return compute_; }
  // Images of the last batch that were not computed.
  std::uint64_t cut_images() const { return static_cast<std::uint64_t>(cut_ * rate_ + 0.5); }

 private:
  double rate_;
  unsigned threads_;  // of the host
  EmulatedHost others_;
  double share_;  // of a step that each of them computes
  DriveClock& clock_;
  double compute_ = 0;
  double cut_ = 0;  // of the last step
  Time due_, end_;
};

std::optional<double> rate(std::uint64_t images, double seconds) {
  if (images == 0 || seconds <= 0) return std::nullopt;
  return static_cast<double>(images) / seconds;
}

// Whether the clock may start with the first batch: clearly more batches follow than the loader can
// have had at hand by then, in part or whole.
bool outlasts_start(const DriveResult& result, const Loader& loader, const DriveOptions& options) {
  if (options.resident) return result.batches > 1;
  return result.batches > 1 + 2 * std::uint64_t{loader.slots()};
}

// What the rate is of, for a clock that started with the first batch, which is `from` unless the run
// settled later, to `end`.
void time_from_first_batch(DriveResult& result, const Marks& marks, Mark from, const Mark& end) {
  if (const auto settled = settled_from(marks.all())) {
    from = marks.all()[*settled];
    result.warmup_seconds = from.seconds;
  }
  result.timed_images = end.images - std::min(from.images, end.images);
  result.timed_seconds = end.seconds - from.seconds;
  // Images that lay ready were yet to be taken when the clock started.
  const std::uint64_t taken = from.seconds > 0 ? end.images - from.images : end.images;
  result.demand = rate(taken, result.timed_seconds - (end.waited - from.waited));
}

}  // namespace

double DriveClock::processor_seconds() { return thread_seconds(); }

void DriveClock::sleep_until(Time time) { std::this_thread::sleep_until(time); }

std::optional<double> DriveResult::images_per_second() const {
  return batches < 2 ? std::nullopt : rate(timed_images, timed_seconds);
}

std::string DriveResult::unknown_rate() const {
  if (images_per_second()) return {};
  if (batches < 2) return batches == 0 ? "there was no batch" : "one batch is too few";
  return "too little time passed";
}

DriveResult drive(Loader& loader, const DriveOptions& options) {
  DriveResult result;
  const bool emulate = options.emulate_images_per_second > 0;
  DriveClock steady;
  DriveClock& clock = options.clock != nullptr ? *options.clock : steady;
  const auto since = [&](Time time) { return Seconds(clock.now() - time).count(); };
  Pace pace(options.emulate_images_per_second, options.emulate_host_cores, clock);
  Hasher hasher;
  volatile unsigned sink = 0;
  const rusage before = usage_now();
  const Time called = clock.now();
  const double alive = loader.stats().alive_seconds;  // seconds, before the call
  const Seconds length(options.seconds > 0 ? std::min(options.seconds, max_step) : max_step);
  Time start = called, end = called;
  double waited = 0;
  double first_waited = 0;
  Marks marks(options.seconds);
  Mark from;
  bool stocked = emulate;  // the trainer has not yet taken all that lay ready
  const auto here = [&] {
    return Mark{since(start), result.images, loader.stats().wait_seconds - first_waited};
  };

  const Batch* batch = nullptr;
  const auto next = [&] { return options.resident && batch != nullptr ? batch : loader.next(); };
  while ((batch = next()) != nullptr) {
    if (result.batches == 0) {
      start = clock.now();
      end = start + std::chrono::duration_cast<Time::duration>(length);
    }
    if (emulate) {
      const double now_waited = loader.stats().wait_seconds;
      if (result.batches == 0) {
        pace.start(start, end);
      } else if (now_waited > waited) {
        pace.waited();
      }
      waited = now_waited;
    }
    if (result.batches == 0) {
      result.first_batch_seconds = Seconds(start - called).count();
      result.ready_images = batch->count + (options.resident ? 0 : loader.ready_images());
      first_waited = loader.stats().wait_seconds;
      from = {0, result.ready_images, 0};
      if (!emulate) marks.add(from);
      if (options.first_batch) options.first_batch();
    }
    const double computed = emulate ? clock.processor_seconds() : 0;
    ++result.batches;
    result.images += batch->count;
    const std::span<const std::byte> images = options.take ? options.take(*batch) : batch->bytes();
    if (options.digest) {
      hasher.add(std::as_bytes(batch->labels));
      hasher.add(images);
    } else {
      sink = sink + touch(images);
    }
    if (emulate) pace.compute(batch->count, computed);
    if (stop_requested()) {
      result.stopped = true;
      break;
    }
    if (stocked && result.images >= result.ready_images) {
      stocked = false;
      from = here();
      marks.add(from);
    }
    if (options.seconds <= 0) continue;
    const Time now = clock.now();
    if (!stocked && marks.are_due(Seconds(now - start).count())) marks.add(here());
    if (now >= end) break;
  }

  if (options.finish) options.finish();
  Mark last = here();
  last.images -= std::min(pace.cut_images(), last.images);
  result.seconds = last.seconds;
  if (outlasts_start(result, loader, options)) {
    time_from_first_batch(result, marks, from, last);
  } else {
    result.from_start = true;
    result.demand = rate(last.images, last.seconds - last.waited);
    result.seconds = alive + since(called);
    first_waited = 0;
    result.ready_images = 0;
    result.timed_images = last.images;
    result.timed_seconds = result.seconds;
  }
  result.stall_seconds = loader.stats().wait_seconds - first_waited;
  if (emulate) result.accelerator_utilisation = pace.compute_seconds() / result.seconds;
  if (options.digest) result.digest = hex(hasher.finish());
  const rusage after = usage_now();
  result.kernel_seconds = seconds_of(after.ru_stime) - seconds_of(before.ru_stime);
  result.cpu_seconds =
      seconds_of(after.ru_utime) - seconds_of(before.ru_utime) + result.kernel_seconds;
  result.peak_rss_bytes = static_cast<std::uint64_t>(after.ru_maxrss) * 1024;
  return result;
}

}  // namespace feedrate::loader
