#include "loader/engine/look_ahead.h"

#include <sys/resource.h>

#include <algorithm>

namespace feedrate::loader::detail {
namespace {

// Enough that a disk's queue is never empty, little enough to stay in memory until it is used.
constexpr std::uint64_t samples_beyond = 64;
// After so many samples in a row that were in memory already, the next ones are taken to be too.
constexpr unsigned convincing = 64;
constexpr std::chrono::milliseconds between_looks(50);

// What this thread has had read from disks, in blocks of 512 bytes: nothing where all was in
// memory.
long blocks_read() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_inblock;
}

}  // namespace

LookAhead::LookAhead(const Job& job, const Plan& plan, unsigned threads,
                     const std::atomic<std::uint64_t>& claimed,
                     const std::atomic<std::uint64_t>& open)
    : job_(job),
      plan_(plan),
      claimed_(claimed),
      open_(open),
      runs_beyond_((samples_beyond - 1) / plan.run_length() + 1) {
  if (threads == 0 || !job.dataset.look_ahead(0)) return;
  threads_.reserve(threads);
  for (unsigned i = 0; i < threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

LookAhead::~LookAhead() {
  stopped_.store(true);
  for (std::jthread& thread : threads_) thread.request_stop();
  room_.wake(static_cast<unsigned>(threads_.size()));
}

void LookAhead::work(const std::stop_token& stop) {
  RunOrder order(job_);
  std::uint64_t in_memory = 0;
  while (!stop.stop_requested()) {
    if (in_memory >= convincing) {
      rest(stop);
      // The farthest run is the first to tell that there is something to do again.
      if (const auto run = far_run(); run && ask(order, *run)) in_memory = 0;
      continue;
    }
    const auto run = next_run(stop);
    if (!run) return;
    in_memory = ask(order, *run) ? 0 : in_memory + plan_.run_length();
  }
}

std::uint64_t LookAhead::horizon() const {
  return std::min(plan_.runs(), open_.load() + runs_beyond_);
}

std::optional<std::uint64_t> LookAhead::next_run(const std::stop_token& stop) {
  std::uint64_t at = at_.load();
  while (!stop.stop_requested() && at < plan_.runs()) {
    const std::uint64_t next = std::max(at, claimed_.load());  // what is claimed is being read
    if (next < horizon()) {
      if (at_.compare_exchange_weak(at, next + 1)) return next;
      continue;
    }
    room_.wait([&] { return stopped_.load() || at_.load() < horizon(); });
    at = at_.load();
  }
  return std::nullopt;
}

std::optional<std::uint64_t> LookAhead::far_run() const {
  const std::uint64_t end = horizon();
  if (end == 0 || end == plan_.runs()) return std::nullopt;
  return end - 1;
}

/// True when that had something read from a disk.
bool LookAhead::ask(RunOrder& order, std::uint64_t number) {
  const Run run = plan_.run(number);
  order.enter(run);
  const long before = blocks_read();
  for (std::uint32_t seat = 0; seat < run.count; ++seat) {
    job_.dataset.look_ahead(order.index(run, seat));
  }
  asked_.fetch_add(run.count, std::memory_order_relaxed);
  return blocks_read() != before;
}

void LookAhead::rest(const std::stop_token& stop) {
  std::unique_lock lock(resting_);
  rested_.wait_for(lock, stop, between_looks, [] { return false; });
}

}  // namespace feedrate::loader::detail
