#include "formats/remote/remote_object.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <new>

#include "formats/base/error.h"
#include "formats/base/pages.h"
#include "formats/base/stop.h"
#include "formats/remote/url.h"

namespace feedrate::formats {
namespace {

// Bytes of all objects that were asked for and not held yet.
std::atomic<std::uint64_t> bytes_ahead{0};

constexpr std::chrono::milliseconds looks_for_stop_every{100};

std::uint64_t page_before(std::uint64_t at) { return at / page_bytes() * page_bytes(); }

// Keeps a fetcher of the parent process for ever: its thread is not here to be ended.
void leave_to_parent(std::shared_ptr<Fetcher> fetcher) {
  new std::shared_ptr<Fetcher>(std::move(fetcher));
}

}  // namespace

RemoteObject::RemoteObject(std::shared_ptr<const Origin> origin, RemoteFile file,
                           const RemoteSettings& settings)
    : origin_(std::move(origin)),
      file_(std::move(file)),
      settings_(settings),
      process_(::getpid()),
      fetcher_(Fetcher::of_process(settings_.connections)) {
  const std::uint64_t size = file_.version.size;
  if (size == 0) {
    add_to_forks();
    return;
  }
  if (settings_.cache_dir) {
    auto directory = CacheDirectory::of_process(*settings_.cache_dir, settings_.cache_size);
    cache_ = std::make_unique<CachedObject>(
        std::move(directory), without_secrets(origin_->request(file_.name).url), file_.version);
  }
  void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    fail_errno(origin_->shown() + file_.name, join("cannot map ", size, " bytes"), errno);
  }
  map_ = {static_cast<const std::byte*>(at), size};
  add_to_forks();
}

RemoteObject::~RemoteObject() {
  remove_from_forks();
  if (process_ == ::getpid()) {
    fetcher_->forget(this);
  } else {
    leave_to_parent(std::move(fetcher_));
  }
  while (!parts_.empty()) drop(parts_.begin());
  drop_blocks();
  if (!map_.empty()) ::munmap(const_cast<std::byte*>(map_.data()), map_.size());
}

std::uint64_t RemoteObject::version() const { return version_number(file_.version); }

void RemoteObject::before_fork() {
  mutex_.lock();
  if (cache_ != nullptr) cache_->before_fork();
}

void RemoteObject::after_fork(bool is_child) {
  if (cache_ != nullptr) cache_->after_fork();
  // Threads that waited are not in the child, and their places in the condition would never be left.
  if (is_child) new (&changed_) std::condition_variable;
  mutex_.unlock();
}

// A forked process has no thread that fetches, so what was coming will not come.
void RemoteObject::start_again_after_fork() {
  if (process_ == ::getpid()) return;
  leave_to_parent(std::move(fetcher_));
  fetcher_ = Fetcher::of_process(settings_.connections);
  process_ = ::getpid();
  drop_blocks();
  for (auto at = parts_.begin(); at != parts_.end();) {
    const auto next = std::next(at);
    if (at->second.state == State::coming) drop(at);
    at = next;
  }
}

RemoteObject::Range RemoteObject::range_of(Bytes part) const {
  assert(part.data() >= map_.data() && part.size() <= map_.size());
  const auto begin = static_cast<std::uint64_t>(part.data() - map_.data());
  return {begin, begin + part.size()};
}

bool RemoteObject::has(Bytes part) {
  if (part.empty()) return true;
  const std::lock_guard lock(mutex_);
  return is_here(range_of(part));
}

void RemoteObject::ask(Bytes part) noexcept {
  if (part.empty()) return;
  try {
    const std::lock_guard lock(mutex_);
    start_again_after_fork();
    const Range range = range_of(part);
    // Reading ahead may reach the next epoch of a small dataset: the part then stays for that, too.
    if (const auto at = parts_.find(range); at != parts_.end()) {
      if (at->second.state != State::failed) set_asked(at, at->second.asked + 1);
      return;
    }
    // A file that is held as a whole needs none of its samples asked for: nobody would come for them.
    if (is_here(range)) return;
    if (bytes_ahead.load(std::memory_order_relaxed) + part.size() > settings_.read_ahead_bytes) {
      return;
    }
    set_asked(fetch(range, false), 1);
  } catch (const std::exception&) {  // no memory: whoever holds it says so
  }
}

void RemoteObject::hold(Bytes part) {
  std::unique_lock lock(mutex_);
  start_again_after_fork();
  const Range range = range_of(part);
  auto at = parts_.find(range);
  if (at == parts_.end()) {
    if (is_here(range)) {
      at = parts_.try_emplace(range).first;
      at->second.state = State::here;
    } else {
      at = fetch(range, true);
    }
  }
  if (at->second.asked != 0) set_asked(at, at->second.asked - 1);
  ++at->second.holds;
  while (at->second.state == State::coming || at->second.state == State::kept) {
    if (at->second.state == State::kept) {
      copy_from_cache(at, lock);
      continue;
    }
    const Fetcher::Waiting waiting(*fetcher_);
    changed_.wait_for(lock, looks_for_stop_every);
    if (at->second.state == State::coming && stop_requested()) {
      --at->second.holds;
      lock.unlock();
      throw_if_stop_requested();
    }
  }
  if (at->second.state == State::here) return;
  const std::string problem = at->second.problem;
  if (--at->second.holds == 0) drop(at);  // the next one asks again
  if (failure_.empty()) failure_ = problem;
  lock.unlock();
  throw Error(problem);  // whoever reads names the file
}

void RemoteObject::expect_had() {
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) fail(origin_->shown() + file_.name, failure_);
}

void RemoteObject::release(Bytes part) noexcept {
  const std::lock_guard lock(mutex_);
  const auto at = parts_.find(range_of(part));
  if (at == parts_.end()) return;  // of the parent process
  --at->second.holds;
  if (at->second.state != State::coming) drop_unless_needed(at);
}

void RemoteObject::let_go() {
  const std::lock_guard lock(mutex_);
  for (auto at = parts_.begin(); at != parts_.end();) {
    const auto next = std::next(at);
    set_asked(at, 0);
    if (at->second.state != State::coming) drop_unless_needed(at);
    at = next;
  }
}

RemoteObject::Parts::iterator RemoteObject::fetch(Range range, bool urgent) {
  const auto at = parts_.try_emplace(range).first;
  longest_ = std::max(longest_, range.second - range.first);
  begin(at, urgent);
  return at;
}

// Starts to bring the part into the cache, where it is not there already, or else into the map.
void RemoteObject::begin(Parts::iterator at, bool urgent) {
  const Range range = at->first;
  Part& part = at->second;
  part.state = State::coming;
  part.missing = 0;
  part.bypasses = false;
  if (cache_ == nullptr) return get(range, urgent);
  const std::uint64_t first = range.first / CachedObject::block_bytes;
  const std::uint64_t last = (range.second - 1) / CachedObject::block_bytes;
  if (!cache_->may_grow()) {
    for (std::uint64_t block = first; block <= last; ++block) {
      if (!cache_->has(block)) return get(range, urgent);
    }
  }
  for (std::uint64_t block = first; block <= last; ++block) {
    const bool is_coming = blocks_.contains(block);
    if (!is_coming && cache_->has(block)) continue;
    if (!is_coming) get_block(block, urgent);
    blocks_[block].parts.push_back(range);
    ++part.missing;
  }
  if (part.missing != 0) return;
  part.state = State::kept;
  cache_->read_ahead({range.first, range.second - range.first});
}

void RemoteObject::get(Range range, bool urgent) {
  Fetch fetch;
  fetch.owner = this;
  fetch.request = [this] { return origin_->request(file_.name); };
  fetch.version = file_.version;
  fetch.range = {range.first, range.second - range.first};
  fetch.into = const_cast<std::byte*>(map_.data()) + range.first;
  fetch.done = [this, range](const std::string& problem) { arrived(range, problem); };
  fetcher_->add(std::move(fetch), urgent);
}

void RemoteObject::get_block(std::uint64_t block, bool urgent) {
  Fetch fetch;
  fetch.owner = this;
  fetch.request = [this] { return origin_->request(file_.name); };
  fetch.version = file_.version;
  fetch.range = cache_->block(block);
  Buffer& bytes = blocks_[block].bytes;
  bytes.resize(fetch.range.size);
  bytes_ahead.fetch_add(bytes.size(), std::memory_order_relaxed);
  fetch.into = bytes.data();
  fetch.done = [this, block](const std::string& problem) { block_arrived(block, problem); };
  fetcher_->add(std::move(fetch), urgent);
}

// In the fetcher's thread, as arrived().
void RemoteObject::block_arrived(std::uint64_t number, std::string problem) {
  std::unique_lock lock(mutex_);
  const auto block = blocks_.find(number);
  lock.unlock();
  bool is_kept = false;
  try {
    is_kept = problem.empty() && cache_->keep(number, block->second.bytes);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  lock.lock();
  const std::vector<Range> parts = std::move(block->second.parts);
  bytes_ahead.fetch_sub(block->second.bytes.size(), std::memory_order_relaxed);
  blocks_.erase(block);
  for (const Range& range : parts) {
    const auto at = parts_.find(range);
    if (at == parts_.end()) continue;
    Part& part = at->second;
    if (!problem.empty()) part.problem = problem;
    if (!is_kept) part.bypasses = true;
    if (--part.missing != 0) continue;
    if (part.problem.empty() && part.bypasses) {
      get(range, part.holds != 0);
      continue;
    }
    part.state = part.problem.empty() ? State::kept : State::failed;
    drop_unless_needed(at);
  }
  changed_.notify_all();
}

// The part stays as it is held; others that hold it wait meanwhile.
void RemoteObject::copy_from_cache(Parts::iterator at, std::unique_lock<std::mutex>& lock) {
  const Range range = at->first;
  at->second.state = State::coming;
  lock.unlock();
  bool is_right = false;
  std::string problem;
  try {
    is_right = cache_->read({range.first, range.second - range.first},
                            const_cast<std::byte*>(map_.data()) + range.first);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (is_right) count_cached(range.second - range.first);
  lock.lock();
  if (is_right) {
    at->second.state = State::here;
  } else if (problem.empty()) {
    begin(at, true);  // what the cache had was damaged
  } else {
    at->second.problem = problem;
    at->second.state = State::failed;
  }
  changed_.notify_all();
}

void RemoteObject::drop_blocks() {
  for (const auto& [number, block] : blocks_) {
    bytes_ahead.fetch_sub(block.bytes.size(), std::memory_order_relaxed);
  }
  blocks_.clear();
}

void RemoteObject::arrived(Range range, const std::string& problem) {
  const std::lock_guard lock(mutex_);
  const auto at = parts_.find(range);
  if (at == parts_.end()) return;
  at->second.state = problem.empty() ? State::here : State::failed;
  at->second.problem = problem;
  drop_unless_needed(at);  // whoever waited may have stopped
  changed_.notify_all();
}

// Whether parts that are here, one or several in a row, hold all of the range.
bool RemoteObject::is_here(Range range) const {
  std::uint64_t covered = range.first;
  const std::uint64_t from = range.first - std::min(range.first, longest_);
  for (auto at = parts_.lower_bound({from, 0}); at != parts_.end(); ++at) {
    if (at->first.first > covered) return false;
    if (at->second.state == State::here) covered = std::max(covered, at->first.second);
    if (covered >= range.second) return true;
  }
  return false;
}

void RemoteObject::set_asked(Parts::iterator part, unsigned asked) {
  const bool before = part->second.asked != 0, after = asked != 0;
  part->second.asked = asked;
  const std::uint64_t size = part->first.second - part->first.first;
  if (after && !before) bytes_ahead.fetch_add(size, std::memory_order_relaxed);
  if (before && !after) bytes_ahead.fetch_sub(size, std::memory_order_relaxed);
}

void RemoteObject::drop_unless_needed(Parts::iterator part) {
  if (part->second.holds == 0 && part->second.asked == 0) drop(part);
}

void RemoteObject::drop(Parts::iterator part) {
  set_asked(part, 0);
  const Range range = part->first;
  parts_.erase(part);
  give_back(range);
}

// Gives back the pages of the range that no other part shares.
void RemoteObject::give_back(Range range) const {
  std::uint64_t begin = page_before(range.first);
  const std::uint64_t end = std::min<std::uint64_t>(round_up(range.second, page_bytes()),
                                                    round_up(map_.size(), page_bytes()));
  const auto give = [&](std::uint64_t to) {
    if (begin < to) {
      ::madvise(const_cast<std::byte*>(map_.data()) + begin, to - begin, MADV_DONTNEED);
    }
  };
  const std::uint64_t from = begin - std::min(begin, longest_);
  for (auto at = parts_.lower_bound({from, 0}); at != parts_.end() && begin < end; ++at) {
    const auto [other_begin, other_end] = at->first;
    if (other_begin >= end) break;
    if (other_end <= begin) continue;
    give(std::min(page_before(other_begin), end));
    begin = std::max<std::uint64_t>(begin, round_up(other_end, page_bytes()));
  }
  give(end);
}

}  // namespace feedrate::formats
