#include "tools/console/signals.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <thread>

#include "formats/base/stop.h"

namespace feedrate::tools {

namespace {

std::atomic<bool> graceful = false;
std::atomic<int> caught = 0;
std::atomic<pid_t> also = 0;
sigset_t blocked_at_start;

// Of PassSignalsOn, for handlers too.
std::atomic<bool> passing = false;
std::atomic<pid_t> passed_to = 0;
std::atomic<std::uint64_t> waiting = 0;  // a bit for each signal

void pass_on(const siginfo_t& signal) {
  if (signal.si_code == SI_KERNEL) return;  // of the terminal: the program has it, too
  if (const pid_t child = passed_to; child > 0) {
    kill(child, signal.si_signo);
  } else {
    waiting |= std::uint64_t{1} << signal.si_signo;
  }
}

void pass_on_in_handler(int /*number*/, siginfo_t* signal, void* /*context*/) { pass_on(*signal); }

constexpr int others_to_pass[] = {SIGQUIT, SIGUSR1, SIGUSR2};
struct sigaction actions_before[std::size(others_to_pass)];

sigset_t signals_to_take() noexcept {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaddset(&signals, signal);
  }
  return signals;
}

// Not through stdio: the thread that waits in there for a reader of stderr holds its lock.
void write_to_stderr(std::string_view text) {
  [[maybe_unused]] const auto ignored = write(STDERR_FILENO, text.data(), text.size());
}

void unblock_signals() { pthread_sigmask(SIG_SETMASK, &blocked_at_start, nullptr); }

void take(int signal) {
  if (const pid_t child = also; child > 0) kill(child, SIGTERM);
  if (graceful && caught == 0) {
    caught = signal;
    formats::request_stop();
    if (signal == SIGINT) write_to_stderr("\nStopping; Ctrl-C again ends it at once.\n");
    return;
  }
  if (isatty(STDERR_FILENO) == 1) write_to_stderr("\n");  // a progress bar may stand there
  die_of(signal);
}

}  // namespace

void block_signals() noexcept {
  const sigset_t signals = signals_to_take();
  pthread_sigmask(SIG_BLOCK, &signals, &blocked_at_start);
}

void take_signals() {
  std::signal(SIGXFSZ, SIG_IGN);  // the write fails, and the error names the file
  pthread_atfork(nullptr, nullptr, unblock_signals);
  std::thread([signals = signals_to_take()] {
    for (;;) {
      siginfo_t signal{};
      if (sigwaitinfo(&signals, &signal) < 0) continue;
      if (passing) {
        pass_on(signal);
      } else {
        take(signal.si_signo);
      }
    }
  }).detach();
}

const sigset_t& signals_blocked_at_start() { return blocked_at_start; }

GracefulStop::GracefulStop() { graceful = true; }
GracefulStop::~GracefulStop() { graceful = false; }

PassSignalsOn::PassSignalsOn() {
  passed_to = 0;
  waiting = 0;
  passing = true;
  struct sigaction action {};
  action.sa_sigaction = pass_on_in_handler;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(others_to_pass); ++i) {
    sigaction(others_to_pass[i], nullptr, &actions_before[i]);
    if (actions_before[i].sa_handler != SIG_IGN) sigaction(others_to_pass[i], &action, nullptr);
  }
}

PassSignalsOn::~PassSignalsOn() {
  for (std::size_t i = 0; i < std::size(others_to_pass); ++i) {
    sigaction(others_to_pass[i], &actions_before[i], nullptr);
  }
  passing = false;
}

void PassSignalsOn::to(pid_t child) {
  passed_to = child;
  for (int signal = 1; signal < 64; ++signal) {
    if ((waiting >> signal & 1) != 0) kill(child, signal);
  }
  waiting = 0;
}

void stop_also(pid_t child) { also = child; }

int stop_signal() { return caught; }

void die_of(int signal) {
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  std::raise(signal);
  std::abort();  // not reached
}

}  // namespace feedrate::tools
