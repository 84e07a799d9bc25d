#pragma once
// The loader's threads: those of oneTBB, but always exactly as many as requested.

#include <functional>
#include <memory>

namespace feedrate::loader::detail {

/// All Workers of a process have at most max_loader_threads.
///
/// Threads that each run `body(worker)`, with worker = 0 … count()-1. A body that has nothing to do
/// waits inside, so that it keeps its thread. It returns when all work is done, or as soon as it is
/// not wanted() any more. It must not throw.
class Workers {
 public:
  /// Starts none; resize() accepts up to `limit`.
  Workers(unsigned limit, std::function<void(unsigned worker)> body);
  /// Waits until every body has returned; the owner has made them return.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Sets the number of threads, up to `limit`. New ones start at once. Those that are not wanted
  /// any more end by themselves when the owner wakes them. Throws Error, and changes nothing, when
  /// the process cannot have that many more; the owner then wakes those that had been started. The
  /// owner's thread.
  void resize(unsigned count);
  unsigned count() const;               // any thread
  bool wanted(unsigned worker) const {  // any thread
    return worker < count();
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace feedrate::loader::detail
