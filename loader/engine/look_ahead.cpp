#include "loader/engine/look_ahead.h"

#include <sys/resource.h>

#include <algorithm>
#include <new>

#include "formats/dataset.h"
#include "formats/remote/stand_in.h"

namespace feedrate::loader::detail {
namespace {

// Enough to keep a disk's queue full, and few enough to stay in memory until they are used.
constexpr std::uint64_t samples_beyond = 64;
// A server answers after some ten milliseconds, however many requests are under way; how much may be is
// counted in bytes, where they are sent.
constexpr std::uint64_t samples_beyond_remote = 1024;
// After this many samples in a row that were in memory already, the next ones are assumed to be
// too.
constexpr unsigned in_memory_streak = 64;
constexpr std::chrono::milliseconds recheck_interval(50);

// Blocks of 512 bytes that this thread has caused to be read from disks; none for data in memory.
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
      remote_(job.dataset.info().is_remote()),
      chunks_beyond_(
          ((remote_ ? samples_beyond_remote : samples_beyond) - 1) / plan.chunk_length() + 1) {
  if (threads == 0 || !job.dataset.look_ahead(0)) return;
  threads_.reserve(threads);
  try {
    for (unsigned i = 0; i < threads; ++i) {
      threads_.emplace_back(
          [this](const std::stop_token& stop) { work_while_there_is_memory(stop); });
    }
  } catch (...) {
    end();  // those that had been started
    throw;
  }
}

LookAhead::~LookAhead() { end(); }

void LookAhead::end() {
  stopped_.store(true);
  for (std::jthread& thread : threads_) thread.request_stop();
  room_.wake(static_cast<unsigned>(threads_.size()));
  threads_.clear();
  // What was asked for beyond the last batch would stay in memory.
  const auto let_go = [](const Dataset& dataset) {
    if (dataset.info().is_remote()) dataset.info().stand_in->let_go();
  };
  let_go(job_.dataset);
  for (const auto& member : job_.dataset.members()) let_go(*member);
}

// Nothing but speed is lost without it.
void LookAhead::work_while_there_is_memory(const std::stop_token& stop) {
  try {
    work(stop);
  } catch (const std::bad_alloc&) {
  }
}

void LookAhead::work(const std::stop_token& stop) {
  ChunkOrder order(job_);
  std::uint64_t in_memory = 0;
  while (!stop.stop_requested()) {
    if (in_memory >= in_memory_streak) {
      pause(stop);
      // The farthest chunk is the first that may be missing from memory again.
      if (const auto chunk = farthest_chunk(); chunk && request(order, *chunk)) in_memory = 0;
      continue;
    }
    const auto chunk = next_chunk(stop);
    if (!chunk) return;
    in_memory = request(order, *chunk) ? 0 : in_memory + plan_.chunk_length();
  }
}

std::uint64_t LookAhead::horizon() const {
  return std::min(plan_.chunks(), open_.load() + chunks_beyond_);
}

std::optional<std::uint64_t> LookAhead::next_chunk(const std::stop_token& stop) {
  std::uint64_t at = next_.load();
  while (!stop.stop_requested() && at < plan_.chunks()) {
    const std::uint64_t chunk =
        std::max(at, claimed_.load());  // claimed chunks are being read already
    if (chunk < horizon()) {
      if (next_.compare_exchange_weak(at, chunk + 1)) return chunk;
      continue;
    }
    room_.wait([&] { return stopped_.load() || next_.load() < horizon(); });
    at = next_.load();
  }
  return std::nullopt;
}

std::optional<std::uint64_t> LookAhead::farthest_chunk() const {
  const std::uint64_t end = horizon();
  if (end == 0 || end == plan_.chunks()) return std::nullopt;
  return end - 1;
}

// Returns whether anything had to be read from a disk or a server.
bool LookAhead::request(ChunkOrder& order, std::uint64_t number) {
  const Chunk chunk = plan_.chunk(number);
  order.enter(chunk);
  const long before = blocks_read();
  for (std::uint32_t seat = 0; seat < chunk.count; ++seat) {
    const std::uint64_t sample = order.index(order.pick(chunk, seat));
    job_.dataset.look_ahead(sample);
    if (job_.crops != nullptr) job_.crops->look_ahead(sample);
  }
  asked_.fetch_add(chunk.count, std::memory_order_relaxed);
  return remote_ || blocks_read() != before;
}

void LookAhead::pause(const std::stop_token& stop) {
  std::unique_lock lock(pause_mutex_);
  pause_.wait_for(lock, stop, recheck_interval, [] { return false; });
}

}  // namespace feedrate::loader::detail
