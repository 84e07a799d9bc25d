#include "tools/bench/interruption.h"

#include <csignal>
#include <cstdlib>
#include <map>

#include "tools/bench/process.h"

namespace feedrate::tools {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t came = 0;
std::map<int, struct sigaction> before;

extern "C" void remember(int signal) {
  came = signal;
  const pid_t process = process_running();
  if (process > 0) kill(process, SIGTERM);
}

}  // namespace

Interruption::Interruption() {
  came = 0;
  struct sigaction action {};
  action.sa_handler = remember;
  for (const int one : signals) sigaction(one, &action, &before[one]);
}

Interruption::~Interruption() {
  for (const int one : signals) sigaction(one, &before[one], nullptr);
}

int Interruption::signal() const { return came; }

void die_of(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
  std::abort();  // a signal that was blocked
}

}  // namespace feedrate::tools
