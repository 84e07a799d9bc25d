#include "tools/console/signals.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "formats/base/stop.h"

namespace feedrate::tools {

namespace {

std::atomic<bool> graceful = false;
std::atomic<int> caught = 0;
std::atomic<pid_t> also = 0;

// Only what a signal handler may do.
void say(const char* text) {
  [[maybe_unused]] const auto ignored = write(STDERR_FILENO, text, std::strlen(text));
}

extern "C" void on_signal(int signal) {
  if (const pid_t child = also; child > 0) kill(child, SIGTERM);
  if (graceful && caught == 0) {
    caught = signal;
    formats::request_stop();
    if (signal == SIGINT) say("\nStopping; Ctrl-C again ends it at once.\n");
    return;
  }
  if (isatty(STDERR_FILENO) == 1) say("\n");  // a progress bar may stand there
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void handle_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;  // as nohup asks
    sigaction(signal, &action, nullptr);
  }
}

GracefulStop::GracefulStop() { graceful = true; }
GracefulStop::~GracefulStop() { graceful = false; }

void stop_also(pid_t child) { also = child; }

int stop_signal() { return caught; }

void die_of(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::abort();  // the signal is blocked
}

}  // namespace feedrate::tools
