#include "loader/engine/workers.h"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "formats/base/error.h"
#include "formats/base/fork_mutex.h"
#include "formats/base/reason.h"
#include "loader/loader.h"

namespace feedrate::loader::detail {
using namespace formats;

namespace {

ForkMutex workers_mutex;
unsigned workers_in_process = 0;  // of all loaders

// How many workers the process may have. An arena only requests threads; a limit of the whole
// process grants them, by default one a core. The smallest of several limits applies, so this one
// is raised once and never lowered. Arenas of other code keep their own sizes.
unsigned process_limit() {
  static const tbb::global_control raised(tbb::global_control::max_allowed_parallelism,
                                          max_loader_threads + 1);
  // oneTBB counts the calling thread too.
  const auto limit =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism) - 1;
  return static_cast<unsigned>(std::min<std::size_t>(limit, max_loader_threads));
}

}  // namespace

// A loader's share of workers_in_process. Threads beyond the limit would never start: an error is
// better than a measurement with fewer threads than requested.
class Quota {
 public:
  Quota() = default;
  // Without process_limit(), which allocates and may have failed before.
  ~Quota() {
    const std::lock_guard lock(workers_mutex);
    workers_in_process -= count_;
  }
  Quota(const Quota&) = delete;
  Quota& operator=(const Quota&) = delete;

  void change(unsigned count) {
    const unsigned limit = process_limit();
    const std::lock_guard lock(workers_mutex);
    const unsigned others = workers_in_process - count_;
    if (count > count_ && count > limit - std::min(limit, others)) {
      throw Error(join("loader: ", count, " threads requested, but this process may have ", limit,
                       " loader threads and ", others,
                       " are in use; use fewer, or raise the process's tbb::global_control"));
    }
    workers_in_process = others + count;
    count_ = count;
  }

 private:
  unsigned count_ = 0;
};

// Arenas with room for one thread each, so that no extra thread joins. They are reused, the last
// one first, since its thread may still be there. A new arena would start a new thread while the
// threads of others are about to sleep.
class Arenas {
 public:
  using Arena = std::unique_ptr<tbb::task_arena>;

  static Arenas& of_process() {
    static Arenas& arenas = *new Arenas;  // never destroyed: threads may outlive main()
    return arenas;
  }
  Arena take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<tbb::task_arena>(1, 0);  // no slot for the caller
    Arena arena = std::move(idle_.back());
    idle_.pop_back();
    return arena;
  }
  void give_back(Arena arena) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(arena));
  }

 private:
  std::mutex mutex_;
  std::vector<Arena> idle_;
};

struct Workers::State {
  using Taken = std::shared_ptr<std::atomic<bool>>;

  struct Worker {
    Arenas::Arena arena;
    bool running = false;
    Taken taken;  // its task, by a thread, or back by the owner
  };

  State(unsigned max_count, std::function<void(unsigned)> b)
      : limit(max_count), body(std::move(b)), workers(std::make_unique<Worker[]>(max_count)) {}
  ~State() {
    for (unsigned i = 0; i < limit; ++i) {
      if (workers[i].arena) Arenas::of_process().give_back(std::move(workers[i].arena));
    }
  }

  // Where no thread can be had, oneTBB throws, but keeps the task for a thread of another arena: it
  // may still run, and only then, when this state is gone.
  void start(unsigned number) {
    Worker& worker = workers[number];
    if (!worker.arena) worker.arena = Arenas::of_process().take();
    const Taken taken = worker.taken = std::make_shared<std::atomic<bool>>(false);
    worker.running = true;
    ++running;
    try {
      worker.arena->enqueue([this, number, taken] {
        if (!taken->exchange(true)) run(number);
      });
    } catch (...) {
      if (take_back(worker)) throw;
    }
  }

  // False where a thread has taken its task. After it has failed once to start a thread, oneTBB may
  // accept a task for which none comes.
  bool take_back(Worker& worker) {
    if (!worker.running || worker.taken->exchange(true)) return false;
    worker.running = false;
    --running;
    return true;
  }

  // Those of them that do not run yet.
  void start_up_to(unsigned wanted) {
    for (unsigned i = 0; i < wanted; ++i) {
      if (!workers[i].running) start(i);
    }
  }

  void want(unsigned wanted) {
    count.store(wanted);
    changes.fetch_add(1);
  }

  void run(unsigned number) {
    for (;;) {
      const unsigned changes_before = changes.load();
      body(number);
      // Notify under the lock: the owner may destroy this state as soon as it can take the lock.
      const std::lock_guard lock(mutex);
      // It may have returned because it was not wanted, and be wanted again by now.
      if (changes.load() != changes_before && number < count.load()) continue;
      workers[number].running = false;
      if (--running == 0) ended.notify_all();
      return;
    }
  }

  const unsigned limit;
  Quota quota;
  std::atomic<unsigned> count{0};
  std::atomic<unsigned> changes{0};  // of count
  unsigned running = 0;
  std::mutex mutex;  // of running, here and in workers
  std::condition_variable ended;
  std::function<void(unsigned)> body;
  std::unique_ptr<Worker[]> workers;
};

Workers::Workers(unsigned limit, std::function<void(unsigned)> body)
    : state_(std::make_unique<State>(limit, std::move(body))) {}

void Workers::resize(unsigned count) {
  State& state = *state_;
  const unsigned before = state.count.load();
  state.quota.change(count);
  const std::lock_guard lock(state.mutex);
  state.want(count);
  try {
    state.start_up_to(count);
  } catch (const std::exception& error) {
    state.want(before);
    state.quota.change(before);
    throw Error(reason_of(error));
  }
}

unsigned Workers::count() const { return state_->count.load(); }

Workers::~Workers() {
  std::unique_lock lock(state_->mutex);
  for (unsigned i = 0; i < state_->limit; ++i) state_->take_back(state_->workers[i]);
  state_->ended.wait(lock, [&] { return state_->running == 0; });
}

}  // namespace feedrate::loader::detail
