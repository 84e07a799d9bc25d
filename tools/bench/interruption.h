#pragma once
// Ctrl-C in the middle of a bench: the process that measures is ended, rows stay whole.

namespace feedrate::tools {

/// While it lives SIGINT, SIGTERM and SIGHUP end the process that run_self waits for, which then
/// throws, and are remembered. One at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// The signal that came; 0: none.
  int signal() const;
};

/// Dies of the signal, as whoever called expects of an interrupted process: no destructor runs.
[[noreturn]] void die_of(int signal);

}  // namespace feedrate::tools
