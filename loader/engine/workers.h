#pragma once
// The loader's threads: oneTBB's, but exactly as many as were asked for, also when that changes.

#include <functional>
#include <memory>

namespace feedrate::loader::detail {

/// Threads that each run `body(worker)`, worker = 0 … count()-1. Bodies wait inside when they have
/// nothing to do, so each keeps its thread; they return when all is done, or as soon as they see
/// that they are not wanted() any more. They must not throw.
class Workers {
 public:
  static constexpr unsigned most = 256;  // of all Workers of a process: what oneTBB guarantees

  /// There will never be more than `limit`. Throws as resize() does.
  Workers(unsigned count, unsigned limit, std::function<void(unsigned worker)> body);
  /// Waits until every body has returned; the owner has told them to.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// From now on so many, at most `limit`. New ones start at once; those that are one too many end
  /// by themselves, and the owner wakes them. Throws Error, and changes nothing, when the process
  /// cannot have that many more. The owner's thread.
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
