#pragma once
// What SIGINT (Ctrl-C), SIGTERM and SIGHUP do to a command.

#include <sys/types.h>

namespace feedrate::tools {

/// Installs the handlers; called once, by main(). Without a GracefulStop a signal ends the process
/// at once: whatever was being written is still only a .partial.
void handle_signals();

/// While it lives, the first signal only requests a stop (formats/base/stop.h), which the command
/// must honour soon; the second ends the process at once. Main thread.
class GracefulStop {
 public:
  GracefulStop();
  ~GracefulStop();
  GracefulStop(const GracefulStop&) = delete;
  GracefulStop& operator=(const GracefulStop&) = delete;
};

/// The process that a signal ends too, by SIGTERM; 0: none.
void stop_also(pid_t child);

/// The signal that requested the stop; 0: none.
int stop_signal();

/// Ends this process by the signal, so that a shell or a bench above it sees an interrupted process
/// (exit code 128 + signal). Runs no destructor.
[[noreturn]] void die_of(int signal);

}  // namespace feedrate::tools
