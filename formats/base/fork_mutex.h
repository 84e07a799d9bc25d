#pragma once
// A mutex that no forked child ever finds held.

#include <mutex>

namespace feedrate::formats {

/// Whoever forks takes it first, as with the locks of malloc, so a child never finds it held by a
/// thread that it lacks. For what serves the whole process and is held for moments. It is never
/// destroyed, and no thread may take it while it holds another one.
class ForkMutex {
 public:
  ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

}  // namespace feedrate::formats
