#pragma once
// What a forked child finds whole: no other thread of its parent was changing it.

#include <mutex>

namespace feedrate::formats {

/// Whoever forks takes all of them first, as with the locks of malloc, in the order in which they were
/// added; a thread that takes several takes them in this order, too. Any thread.
class ForkGuard {
 public:
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;

  virtual void before_fork() = 0;
  /// In the thread that forked, and in the child.
  virtual void after_fork(bool is_child) = 0;

 protected:
  ForkGuard() = default;
  ~ForkGuard() = default;

  /// While it is added, before_fork() may be called. To be removed before it ends.
  void add_to_forks();
  void remove_from_forks();
};

/// A mutex that no forked child ever finds held. For what serves the whole process and is held for
/// moments. It is never destroyed.
class ForkMutex final : public ForkGuard {
 public:
  ForkMutex() { add_to_forks(); }

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  void before_fork() override { lock(); }
  void after_fork(bool) override { unlock(); }

 private:
  std::mutex mutex_;
};

}  // namespace feedrate::formats
