#include "loader/drive.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "formats/base/bytes.h"
#include "formats/base/stop.h"
#include "formats/digests/digest.h"
#include "loader/tuning/settling.h"

namespace feedrate::loader {
using namespace formats;

namespace {

using Time = DriveClock::Time;
using Seconds = std::chrono::duration<double>;

constexpr double max_step = 1e9;  // seconds: longer waits could overflow the clock

double cpu_seconds(const rusage& usage) {
  const auto whole = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);
  const auto micro = static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  return whole + micro * 1e-6;
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

// A trainer of fixed speed: it computes on each batch for a fixed time, then takes the next.
// Waiting for the loader delays its schedule; overshooting a sleep does not.
class Pace {
 public:
  Pace(double images_per_second, DriveClock& clock) : rate_(images_per_second), clock_(clock) {}
  void start(Time now) { due_ = now; }
  void waited() { due_ = std::max(due_, clock_.now()); }
  // At most `left` seconds: the end of the run interrupts a step.
  void compute(std::uint32_t images, double left) {
    const Seconds step(std::clamp(images / rate_, 0.0, std::max(left, 0.0)));
    due_ += std::chrono::duration_cast<Time::duration>(step);
    constexpr std::chrono::milliseconds attention{50};  // to a stop
    while (!stop_requested() && clock_.now() < due_) {
      clock_.sleep_until(std::min(due_, clock_.now() + attention));
    }
    const double cut_off = std::max(Seconds(due_ - clock_.now()).count(), 0.0);  // by a stop
    compute_ += step.count() - cut_off;
  }
  double compute_seconds() const { return compute_; }

 private:
  double rate_;
  DriveClock& clock_;
  double compute_ = 0;
  Time due_;
};

// Whether the clock may start with the first batch: clearly more batches follow than the loader can
// have had at hand by then, in part or whole.
bool outlasts_start(const DriveResult& result, const Loader& loader) {
  return result.batches > 1 + 2 * std::uint64_t{loader.slots()};
}

// What the rate is of, for a clock that started with the first batch.
void time_from_first_batch(DriveResult& result, const Marks& marks) {
  Mark from{0, result.ready_images, 0};
  if (const auto settled = settled_from(marks.all())) {
    from = marks.all()[*settled];
    result.warmup_seconds = from.seconds;
  }
  result.timed_images = result.images - std::min(from.images, result.images);
  result.timed_seconds = result.seconds - from.seconds;
}

}  // namespace

void DriveClock::sleep_until(Time time) { std::this_thread::sleep_until(time); }

std::optional<double> DriveResult::images_per_second() const {
  if (batches < 2 || timed_images == 0 || timed_seconds <= 0) return std::nullopt;
  return static_cast<double>(timed_images) / timed_seconds;
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
  Pace pace(options.emulate_images_per_second, clock);
  Hasher hasher;
  volatile unsigned sink = 0;
  const rusage before = usage_now();
  const Time called = clock.now();
  const double alive = loader.stats().alive_seconds;  // seconds, before the call
  Time start = called;
  double waited = 0;
  double first_waited = 0;
  Marks marks(options.seconds);

  while (const Batch* batch = loader.next()) {
    if (result.batches == 0) start = clock.now();
    if (emulate) {
      const double now_waited = loader.stats().wait_seconds;
      if (result.batches == 0) {
        pace.start(start);
      } else if (now_waited > waited) {
        pace.waited();
      }
      waited = now_waited;
    }
    if (result.batches == 0) {
      result.first_batch_seconds = Seconds(start - called).count();
      result.ready_images = batch->count + loader.ready_images();
      first_waited = loader.stats().wait_seconds;
      marks.add({0, result.ready_images, 0});
      if (options.first_batch) options.first_batch();
    }
    ++result.batches;
    result.images += batch->count;
    const std::span<const std::byte> images = options.take ? options.take(*batch) : batch->bytes();
    if (options.digest) {
      hasher.add(std::as_bytes(batch->labels));
      hasher.add(images);
    } else {
      sink = sink + touch(images);
    }
    if (emulate) {
      pace.compute(batch->count, options.seconds > 0 ? options.seconds - since(start) : max_step);
    }
    if (stop_requested()) {
      result.stopped = true;
      break;
    }
    if (options.seconds <= 0) continue;
    const double now = since(start);
    marks.add({now, result.images, 0});
    if (now >= options.seconds) break;
  }

  if (options.finish) options.finish();
  result.seconds = since(start);
  if (outlasts_start(result, loader)) {
    time_from_first_batch(result, marks);
  } else {
    result.from_start = true;
    result.seconds = alive + since(called);
    first_waited = 0;
    result.ready_images = 0;
    result.timed_images = result.images;
    result.timed_seconds = result.seconds;
  }
  result.stall_seconds = loader.stats().wait_seconds - first_waited;
  if (emulate) result.accelerator_utilisation = pace.compute_seconds() / result.seconds;
  if (options.digest) result.digest = hex(hasher.finish());
  const rusage after = usage_now();
  result.cpu_seconds = cpu_seconds(after) - cpu_seconds(before);
  result.peak_rss_bytes = static_cast<std::uint64_t>(after.ru_maxrss) * 1024;
  return result;
}

}  // namespace feedrate::loader
