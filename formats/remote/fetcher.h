#pragma once
// Fetches ranges of objects over many connections at once, in a thread of its own.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "formats/remote/counts.h"
#include "formats/remote/exchange.h"
#include "formats/remote/retries.h"

namespace feedrate::formats {

/// A range to fetch. `owner` names it in Fetcher::forget().
struct Fetch {
  const void* owner = nullptr;
  std::function<HttpRequest()> request;  // made again for each attempt: signatures age
  ObjectVersion version;
  ByteRange range;
  std::byte* into = nullptr;
  /// Called once, in the fetcher's thread, with the reason of a failure, or an empty text.
  std::function<void(const std::string& problem)> done;
};

/// Any thread. The number of connections follows Little's law: the time that an answer takes, times the
/// answers needed a second. It grows while a reader waits, unless the thread itself is what it waits for, and shrinks
/// while none does.
class Fetcher {
 public:
  /// Uses so many connections at most.
  explicit Fetcher(unsigned connections);
  ~Fetcher();
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  /// The one of this process for so many connections, which ends with its last user. A forked process gets
  /// its own.
  static std::shared_ptr<Fetcher> of_process(unsigned connections);

  /// Starts to fetch; `urgent` before what was added earlier.
  void add(Fetch fetch, bool urgent);
  /// Ends the owner's fetches: their memory is not touched, and done() is not called, after this.
  void forget(const void* owner);

  /// Counts a reader that waits for bytes while this lives.
  class Waiting {
   public:
    explicit Waiting(Fetcher& of) : of_(of) { of_.waiting_.fetch_add(1); }
    ~Waiting() { of_.waiting_.fetch_sub(1); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    Fetcher& of_;
  };

 private:
  using Clock = std::chrono::steady_clock;
  struct Task {
    Fetch fetch;
    std::uint64_t have = 0;  // bytes that came before a failure
    Retries retries;         // since bytes came fast enough
    Clock::time_point sent;
    std::uint64_t counted = 0;        // of `have`, then
    Clock::time_point counted_since;  // then

    bool progresses(Clock::time_point now);
  };
  struct Line {  // a connection, or the place of one
    Exchange exchange;
    std::unique_ptr<Task> task;
  };

  void work();
  void take_orders();
  void start_tasks();
  void start(std::unique_ptr<Task> task);
  void finish(Line& line, int code);
  void forget_now(const void* owner);
  void adjust(Clock::time_point now);
  int wait_ms(Clock::time_point now) const;
  void count_work();

  const unsigned most_;  // connections
  void* multi_;          // CURLM
  std::mutex mutex_;
  std::condition_variable forgotten_;
  std::deque<std::unique_ptr<Task>> added_, added_urgent_;  // under mutex_
  std::vector<const void*> to_forget_;                      // under mutex_
  bool stop_ = false;                                       // under mutex_
  std::atomic<unsigned> waiting_{0};

  // Of the thread.
  std::deque<std::unique_ptr<Task>> queue_;
  std::multimap<Clock::time_point, std::unique_ptr<Task>> delayed_;
  std::vector<std::unique_ptr<Line>> idle_;
  std::map<Exchange*, std::unique_ptr<Line>> busy_;
  unsigned limit_;
  Clock::time_point adjusted_;
  Clock::duration spent_{};  // on answers since then
  std::chrono::nanoseconds worked_{};  // processor time that was counted
  std::chrono::nanoseconds wanted_{};  // processor time, with the wait for it, until `adjusted_`
  bool was_short_ = false;  // since then, a task waited for a place while a reader waited for bytes
  std::thread thread_;
};

}  // namespace feedrate::formats
