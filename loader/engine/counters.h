#pragma once
// The loader's counters: one writer for each, any reader, no locks.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace feedrate::loader::detail {

/// Nanoseconds of the steady clock.
inline std::uint64_t clock_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

/// Times the stages of work, one after the other. When off, it reads no clock and adds nothing.
class StageClock {
 public:
  explicit StageClock(bool on) : on_(on), start_(on ? clock_ns() : 0), end_(start_) {}
  /// Adds the time since the last call, or since construction, to `stage`.
  template <class Sum>
  void add_to(Sum& stage) {
    if (!on_) return;
    const std::uint64_t now = clock_ns();
    stage.add(now - end_);
    end_ = now;
  }
  bool on() const { return on_; }
  std::uint64_t start_ns() const { return start_; }
  std::uint64_t end_ns() const { return end_; }

 private:
  bool on_;
  std::uint64_t start_, end_;
};

inline double seconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

/// A sum that only one thread adds to: a load and a store instead of a locked addition.
class Counter {
 public:
  void add(std::uint64_t amount) { value_.store(get() + amount, std::memory_order_relaxed); }
  std::uint64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// The same counts as CropStats.
struct CropCounters {
  Counter parts, indexed, stale, mcus_read, mcus, bytes_read, bytes;
};

struct WorkerCounters {
  Counter read_ns;
  Counter decode_ns;
  Counter augment_ns;
  Counter bytes_read;
  Counter shrunk;  // images decoded at less than their size
  Counter images;  // seats filled
  CropCounters crops;
  std::atomic<std::thread::id> thread{};  // that filled the first seat
};

struct ConsumerCounters {
  Counter images;
  Counter batches;
  Counter wait_ns;
  Counter first_wait_ns;
  Counter bad_seats;
  Counter repeated;  // images
  Counter filled;    // sum over calls of next(): slots found filled
};

}  // namespace feedrate::loader::detail
