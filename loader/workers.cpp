#include "loader/workers.h"

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>

#include "formats/error.h"

namespace feedrate::detail {
namespace {

std::mutex census_mutex;
unsigned census = 0;  // workers of all loaders alive

// An arena only asks for threads; a limit for the whole process grants them, by default one a core.
// Where several limits live the smallest wins, so it is raised once and never lowered: arenas of
// others keep their own sizes.
unsigned granted() {
  static const tbb::global_control raised(tbb::global_control::max_allowed_parallelism,
                                          Workers::most + 1);
  // oneTBB counts the calling thread too.
  const auto limit =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism) - 1;
  return static_cast<unsigned>(std::min<std::size_t>(limit, Workers::most));
}

// A loader's part of the census. Threads beyond the limit would never come and the loaders that
// hold the others could starve: an error is better than a measurement at another thread count than
// the one asked.
class Counted {
 public:
  explicit Counted(unsigned count) : count_(count) {
    const unsigned limit = granted();
    const std::lock_guard lock(census_mutex);
    if (count > limit - std::min(limit, census)) {
      throw Error(join("loader: ", count, " threads asked, but this process may have ", limit,
                       " loader threads and ", census,
                       " are in use; ask for fewer, or raise the process's tbb::global_control"));
    }
    census += count;
  }
  ~Counted() {
    const std::lock_guard lock(census_mutex);
    census -= count_;
  }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

  unsigned count() const { return count_; }

 private:
  const unsigned count_;
};

}  // namespace

struct Workers::State {
  State(unsigned n, std::function<void(unsigned)> b)
      : counted(n), running(n), body(std::move(b)), arena(static_cast<int>(n), 0) {}

  void run() {
    body(started.fetch_add(1));
    // Notified under the lock: the owner may destroy all this as soon as it can take the lock.
    const std::lock_guard lock(mutex);
    if (--running == 0) ended.notify_all();
  }

  const Counted counted;
  std::atomic<unsigned> started{0};
  unsigned running;
  std::mutex mutex;
  std::condition_variable ended;
  std::function<void(unsigned)> body;
  tbb::task_arena arena;  // no slot reserved for the caller
};

Workers::Workers(unsigned count, std::function<void(unsigned)> body) {
  if (count == 0) return;
  state_ = std::make_unique<State>(count, std::move(body));
  State* state = state_.get();
  for (unsigned i = 0; i < count; ++i) {
    state->arena.enqueue([state] { state->run(); });
  }
}

unsigned Workers::count() const { return state_ ? state_->counted.count() : 0; }

Workers::~Workers() {
  if (!state_) return;
  std::unique_lock lock(state_->mutex);
  state_->ended.wait(lock, [&] { return state_->running == 0; });
}

}  // namespace feedrate::detail
