#pragma once
// The request to end what this process is doing, as Ctrl-C makes it. Long work looks for it where
// it can end without losing anything.

#include <exception>

namespace feedrate::formats {

/// Thrown by work that ends early because request_stop() was called. Not an Error: nothing is
/// wrong.
class Stopped : public std::exception {
 public:
  const char* what() const noexcept override { return "stopped on request"; }
};

/// Asks all long work of this process to stop; cannot be withdrawn. Safe to call from any thread and
/// from a signal handler.
void request_stop() noexcept;
bool stop_requested() noexcept;
/// Throws Stopped when a stop has been requested.
void throw_if_stop_requested();

}  // namespace feedrate::formats
