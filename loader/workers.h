#pragma once
// The loader's threads: oneTBB's, but exactly as many as were asked for.

#include <functional>
#include <memory>

namespace feedrate::detail {

/// `count` threads that each run `body(worker)` once, worker = 0 … count-1. The bodies wait inside
/// when they have nothing to do, so each keeps its thread to the end. They must not throw.
class Workers {
 public:
  static constexpr unsigned most = 256;  // of all Workers of a process: what oneTBB guarantees

  /// Throws Error when the process cannot have that many more.
  Workers(unsigned count, std::function<void(unsigned worker)> body);
  /// Waits until every body has returned; the owner has told them to.
  ~Workers();
  unsigned count() const;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace feedrate::detail
