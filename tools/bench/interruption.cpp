#include "tools/bench/interruption.h"

#include <csignal>
#include <map>

#include "tools/bench/process.h"

namespace feedrate {
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

void Interruption::die() const {
  const int signal = came;
  if (signal == 0) return;
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace feedrate
