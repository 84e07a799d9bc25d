#pragma once
// What SIGINT (Ctrl-C), SIGTERM and SIGHUP do to a command. One thread takes them, and all others
// block them: a handler that interrupted a product would corrupt the heap
// (trainer/backends/cpu/threads/held_signals.h).

#include <sys/types.h>

#include <csignal>

namespace feedrate::tools {

/// Blocks the three in the calling thread and in those that it starts, but for what is ignored, as
/// nohup asks. A program calls it before anything starts a thread.
void block_signals() noexcept;

/// Starts the thread that takes them; called once, by main(). Without a GracefulStop a signal ends
/// the process at once: whatever was being written is still only a .partial. From now on, a file
/// larger than the process may write is an error like a full disk (SIGXFSZ is ignored).
void take_signals();

/// The mask that the process was started with: for the programs that it starts. Forked children get
/// it by themselves.
const sigset_t& signals_blocked_at_start();

/// While it lives, the first signal only requests a stop (formats/base/stop.h), which the command
/// must honour soon; the second ends the process at once. Main thread.
class GracefulStop {
 public:
  GracefulStop();
  ~GracefulStop();
  GracefulStop(const GracefulStop&) = delete;
  GracefulStop& operator=(const GracefulStop&) = delete;
};

/// While it lives, signals are passed on to a program that this process runs in its place, and do
/// nothing else: also SIGQUIT, SIGUSR1 and SIGUSR2. Those of the terminal reach both processes by
/// themselves. What comes before to() waits for it. One at a time. Main thread.
class PassSignalsOn {
 public:
  PassSignalsOn();
  ~PassSignalsOn();
  PassSignalsOn(const PassSignalsOn&) = delete;
  PassSignalsOn& operator=(const PassSignalsOn&) = delete;

  void to(pid_t child);
};

/// The process that a signal ends too, by SIGTERM; 0: none.
void stop_also(pid_t child);

/// The signal that requested the stop; 0: none.
int stop_signal();

/// Ends this process by the signal, so that a shell or a bench above it sees an interrupted process
/// (exit code 128 + signal). Runs no destructor.
[[noreturn]] void die_of(int signal);

}  // namespace feedrate::tools
