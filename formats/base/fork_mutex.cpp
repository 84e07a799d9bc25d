#include "formats/base/fork_mutex.h"

#include <pthread.h>

#include <algorithm>
#include <vector>

namespace feedrate::formats {
namespace {

struct ForkGuards {
  std::mutex mutex;  // of the list, and held during a fork
  std::vector<ForkGuard*> all;
};

ForkGuards& fork_guards() {
  static ForkGuards& guards = *new ForkGuards;  // never destroyed: threads may outlive main()
  return guards;
}

void end_fork(bool is_child) {
  for (ForkGuard* const one : fork_guards().all) one->after_fork(is_child);
  fork_guards().mutex.unlock();
}

extern "C" void hold_fork_guards() {
  fork_guards().mutex.lock();
  for (ForkGuard* const one : fork_guards().all) one->before_fork();
}

extern "C" void release_fork_guards() { end_fork(false); }
extern "C" void release_fork_guards_of_child() { end_fork(true); }

}  // namespace

void ForkGuard::add_to_forks() {
  static const int watching =
      pthread_atfork(hold_fork_guards, release_fork_guards, release_fork_guards_of_child);
  static_cast<void>(watching);
  const std::lock_guard lock(fork_guards().mutex);
  fork_guards().all.push_back(this);
}

void ForkGuard::remove_from_forks() {
  const std::lock_guard lock(fork_guards().mutex);
  std::erase(fork_guards().all, this);
}

}  // namespace feedrate::formats
