#include "formats/remote/fetcher.h"

#include <curl/curl.h>

#include <algorithm>
#include <exception>
#include <new>
#include <random>
#include <utility>

#include "formats/base/error.h"
#include "formats/base/fork_mutex.h"
#include "formats/base/thread_time.h"

namespace feedrate::formats {
namespace {

constexpr unsigned first_connections = 8;
constexpr unsigned fewest_connections = 4;
constexpr std::chrono::milliseconds adjusted_every{200};
constexpr int longest_poll_ms = 1000;
constexpr double busy_share = 0.8;  // of the thread's time: more connections would bring no more

std::uint64_t random_number() {
  thread_local std::minstd_rand generator{std::random_device{}()};
  return generator();
}

// The fetchers of a process. After a fork the child has a copy of its parent's, whose threads it lacks.
struct OfProcess final : ForkGuard {
  struct Fetchers {
    std::mutex mutex;
    std::map<unsigned, std::weak_ptr<Fetcher>> by_connections;
  };

  OfProcess() { add_to_forks(); }
  void before_fork() override {}
  void after_fork(bool is_child) override {
    if (is_child) all = new Fetchers;
  }

  Fetchers* all = new Fetchers;
};

OfProcess::Fetchers& of_this_process() {
  static auto* const one = new OfProcess;
  return *one->all;
}

}  // namespace

std::shared_ptr<Fetcher> Fetcher::of_process(unsigned connections) {
  auto& [mutex, fetchers] = of_this_process();
  const std::lock_guard lock(mutex);
  std::shared_ptr<Fetcher> fetcher = fetchers[connections].lock();
  if (fetcher == nullptr) {
    fetcher = std::make_shared<Fetcher>(connections);
    fetchers[connections] = fetcher;
  }
  return fetcher;
}

Fetcher::Fetcher(unsigned connections)
    : most_(std::max(connections, 1U)), limit_(std::min(first_connections, most_)) {
  start_libcurl();
  multi_ = curl_multi_init();
  if (multi_ == nullptr) throw std::bad_alloc();
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(most_));
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
  adjusted_ = Clock::now();
  thread_ = std::thread([this] { work(); });
}

Fetcher::~Fetcher() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  curl_multi_wakeup(multi_);
  thread_.join();
  for (auto& [exchange, line] : busy_) curl_multi_remove_handle(multi_, exchange->handle());
  busy_.clear();
  idle_.clear();
  curl_multi_cleanup(multi_);
}

// Whether bytes came fast enough since it last was so: a server may send one and break, again and again.
bool Fetcher::Task::progresses(Clock::time_point now) {
  const std::chrono::duration<double> passed = now - counted_since;
  if (static_cast<double>(have - counted) < passed.count() * Exchange::slowest_bytes_per_second) {
    return false;
  }
  counted = have;
  counted_since = now;
  return true;
}

void Fetcher::add(Fetch fetch, bool urgent) {
  auto task = std::make_unique<Task>();
  task->fetch = std::move(fetch);
  bool first = false;  // of those that the thread takes together
  {
    const std::lock_guard lock(mutex_);
    first = added_.empty() && added_urgent_.empty();
    (urgent ? added_urgent_ : added_).push_back(std::move(task));
  }
  if (first) curl_multi_wakeup(multi_);
}

void Fetcher::forget(const void* owner) {
  std::unique_lock lock(mutex_);
  to_forget_.push_back(owner);
  curl_multi_wakeup(multi_);
  forgotten_.wait(lock, [&] { return std::ranges::find(to_forget_, owner) == to_forget_.end(); });
}

void Fetcher::work() {
  for (;;) {
    take_orders();
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
    }
    const Clock::time_point now = Clock::now();
    while (!delayed_.empty() && delayed_.begin()->first <= now) {
      queue_.push_front(std::move(delayed_.begin()->second));
      delayed_.erase(delayed_.begin());
    }
    adjust(now);
    start_tasks();
    int running = 0;
    curl_multi_perform(multi_, &running);
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      char* exchange = nullptr;
      const int code = message->data.result;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &exchange);
      const auto found = busy_.find(reinterpret_cast<Exchange*>(exchange));
      curl_multi_remove_handle(multi_, found->second->exchange.handle());
      const std::unique_ptr<Line>& line = idle_.emplace_back(std::move(found->second));
      busy_.erase(found);
      finish(*line, code);
    }
    start_tasks();
    curl_multi_poll(multi_, nullptr, 0, wait_ms(Clock::now()), nullptr);
  }
}

void Fetcher::take_orders() {
  const std::lock_guard lock(mutex_);
  for (auto& task : added_) queue_.push_back(std::move(task));
  while (!added_urgent_.empty()) {
    queue_.push_front(std::move(added_urgent_.back()));
    added_urgent_.pop_back();
  }
  added_.clear();
  for (const void* owner : to_forget_) forget_now(owner);
  if (!to_forget_.empty()) forgotten_.notify_all();
  to_forget_.clear();
}

void Fetcher::forget_now(const void* owner) {
  const auto is_owners = [&](const auto& task) { return task->fetch.owner == owner; };
  std::erase_if(queue_, is_owners);
  std::erase_if(delayed_, [&](const auto& entry) { return is_owners(entry.second); });
  for (auto at = busy_.begin(); at != busy_.end();) {
    if (!is_owners(at->second->task)) {
      ++at;
      continue;
    }
    curl_multi_remove_handle(multi_, at->second->exchange.handle());  // closes its connection
    at->second->task.reset();
    idle_.push_back(std::move(at->second));
    at = busy_.erase(at);
  }
}

void Fetcher::start_tasks() {
  while (!queue_.empty() && busy_.size() < limit_) {
    std::unique_ptr<Task> task = std::move(queue_.front());
    queue_.pop_front();
    start(std::move(task));
  }
  if (!queue_.empty() && waiting_.load() != 0) was_short_ = true;
}

void Fetcher::start(std::unique_ptr<Task> task) {
  std::string problem;
  try {
    if (idle_.empty()) idle_.push_back(std::make_unique<Line>());
    Line& line = *idle_.back();
    const Fetch& fetch = task->fetch;
    const ByteRange missing{fetch.range.offset + task->have, fetch.range.size - task->have};
    line.exchange.prepare(fetch.request(), fetch.version, missing, fetch.into + task->have);
    curl_multi_add_handle(multi_, line.exchange.handle());
    task->sent = Clock::now();
    if (task->have == 0) task->counted_since = task->sent;
    line.task = std::move(task);
    busy_.emplace(&line.exchange, std::move(idle_.back()));
    idle_.pop_back();
    FetchCounters::of_process().sent(static_cast<unsigned>(busy_.size()));
    return;
  } catch (const std::exception& error) {
    problem = error.what();
  }
  task->fetch.done(problem);
}

void Fetcher::finish(Line& line, int code) {
  count_work();
  std::unique_ptr<Task> task = std::move(line.task);
  Outcome outcome = line.exchange.outcome(code);
  if (outcome.kind == Outcome::Kind::repeat && line.exchange.received() != 0) {
    task->have += line.exchange.received();
    if (task->progresses(Clock::now())) task->retries = {};
    if (task->have == task->fetch.range.size) outcome = {Outcome::Kind::done, {}};
  }
  FetchCounters& all = FetchCounters::of_process();
  const Clock::duration took = Clock::now() - task->sent;
  if (outcome.kind == Outcome::Kind::done) {
    spent_ += took;
    all.arrived(task->fetch.range.size, took);
    task->fetch.done({});
    return;
  }
  if (outcome.was_silent) task->retries.add_silence();
  if (outcome.kind == Outcome::Kind::repeat) {
    if (const auto wait =
            task->retries.next(random_number(), line.exchange.answer().retry_after_seconds)) {
      all.repeats();
      delayed_.emplace(Clock::now() + *wait, std::move(task));
      return;
    }
  }
  std::string problem = outcome.reason;
  if (task->retries.failed() != 0)
    problem += join("; asked ", task->retries.failed() + 1, " times");
  task->fetch.done(problem);
}

// Time spent on answers, divided by the time that passed, is how many were under way on average
// (Little's law). That many are enough for readers who do not wait.
void Fetcher::adjust(Clock::time_point now) {
  const Clock::duration passed = now - adjusted_;
  if (passed < adjusted_every) return;
  const std::chrono::nanoseconds wanted = thread_cpu_wanted();
  const bool has_time = wanted - wanted_ < busy_share * passed;
  wanted_ = wanted;
  if (was_short_ && has_time) {
    limit_ = std::min(limit_ * 2, most_);
  } else {
    const auto under_way = static_cast<unsigned>(spent_ / passed);
    limit_ = std::clamp(under_way + under_way / 2 + 2, std::min(fewest_connections, most_), limit_);
  }
  adjusted_ = now;
  spent_ = {};
  was_short_ = false;
}

void Fetcher::count_work() {
  const std::chrono::nanoseconds now = thread_cpu_time();
  FetchCounters::of_process().worked(now - worked_);
  worked_ = now;
}

int Fetcher::wait_ms(Clock::time_point now) const {
  if (delayed_.empty()) return longest_poll_ms;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(delayed_.begin()->first - now).count();
  return static_cast<int>(std::clamp<long>(left, 0, longest_poll_ms));
}

}  // namespace feedrate::formats
