#include "blocks.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kernel_language.h"

namespace feedrate::emulation {
namespace {

constexpr unsigned max_in_flight = 6;

/// Random bits, the same in every process: only the running thread draws.
std::uint64_t draw() {
  static std::uint64_t draws = 0;
  std::uint64_t bits = ++draws * 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 31)) * 0xbf58476d1ce4e5b9U;
  return bits >> 33;
}

/// Lets one of the threads run at a time. Who is next is chance, but a few fall far behind, as if
/// their multiprocessor were busy: where all advance alike, they seldom overtake each other.
class Turns {
 public:
  explicit Turns(unsigned threads) : waiting_(threads) {
    for (unsigned i = 0; i < threads; ++i) waiting_[i] = i;
    pick();
  }
  void wait(unsigned self) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ == self; });
  }
  void pass_on(unsigned self) {
    {
      const std::lock_guard lock(mutex_);
      pick();
      if (running_ == self) return;
      changed_.notify_all();
    }
    wait(self);
  }
  void leave(unsigned self) {
    const std::lock_guard lock(mutex_);
    std::erase(waiting_, self);
    if (!waiting_.empty()) pick();
    changed_.notify_all();
  }

 private:
  void pick() {
    if (draw() % 8 == 0) slow_ = draw();
    for (int tries = 0; tries < 8; ++tries) {
      running_ = waiting_[draw() % waiting_.size()];
      if ((slow_ >> running_ & 1U) == 0) return;
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<unsigned> waiting_;  // and the running one
  unsigned running_ = 0;
  std::uint64_t slow_ = draw();  // bit i: thread i
};

thread_local Turns* turns = nullptr;  // of the kernel whose block runs on this thread
thread_local unsigned own_number = 0;

void interleave(unsigned count, const std::function<void(unsigned block)>& run) {
  const unsigned in_flight = std::min(count, max_in_flight);
  Turns shared(in_flight);
  std::vector<unsigned> open(count);
  std::iota(open.begin(), open.end(), 0U);
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < in_flight; ++i) {
    threads.emplace_back([&, i] {
      turns = &shared;
      own_number = i;
      shared.wait(i);
      while (!open.empty()) {
        std::swap(open[draw() % open.size()], open.back());
        const unsigned block = open.back();
        open.pop_back();
        run(block);
      }
      shared.leave(i);
    });
  }
}

}  // namespace

void let_others_run() {
  if (turns != nullptr) turns->pass_on(own_number);
}

Order order_of_environment() {
  const char* set = std::getenv("FEEDRATE_EMULATED_ORDER");
  const std::string_view order = set == nullptr ? "" : set;
  if (order == "interleaved") return Order::interleaved;
  return order == "reversed" ? Order::reversed : Order::forward;
}

void each_block(unsigned count, Order order, const std::function<void(unsigned block)>& run) {
  if (order == Order::interleaved && count > 1) return interleave(count, run);
  for (unsigned i = 0; i < count; ++i) run(order == Order::reversed ? count - 1 - i : i);
}

}  // namespace feedrate::emulation
