#include "formats/base/fork_mutex.h"

#include <pthread.h>

#include <vector>

namespace feedrate::formats {
namespace {

struct ForkMutexes {
  std::mutex mutex;  // of the list, and held during a fork
  std::vector<ForkMutex*> all;
};

ForkMutexes& fork_mutexes() {
  static ForkMutexes& mutexes = *new ForkMutexes;  // never destroyed: threads may outlive main()
  return mutexes;
}

extern "C" void hold_fork_mutexes() {
  fork_mutexes().mutex.lock();
  for (ForkMutex* const one : fork_mutexes().all) one->lock();
}

extern "C" void release_fork_mutexes() {
  for (ForkMutex* const one : fork_mutexes().all) one->unlock();
  fork_mutexes().mutex.unlock();
}

}  // namespace

ForkMutex::ForkMutex() {
  static const int watching =
      pthread_atfork(hold_fork_mutexes, release_fork_mutexes, release_fork_mutexes);
  static_cast<void>(watching);
  const std::lock_guard lock(fork_mutexes().mutex);
  fork_mutexes().all.push_back(this);
}

}  // namespace feedrate::formats
