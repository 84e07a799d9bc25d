#include "trainer/backends/cpu/threads/held_signals.h"

#include "trainer/backends/cpu/threads/parallel.h"

namespace feedrate::trainer::cpu {
namespace {

// A blocked fault would end the process without its handler, such as a sanitizer's.
sigset_t all_but_faults() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT}) {
    sigdelset(&signals, fault);
  }
  return signals;
}

}  // namespace

HeldSignals::HeldSignals(unsigned threads) {
  static const sigset_t held = all_but_faults();
  // First, because a team inherits the mask of the thread that makes it.
  pthread_sigmask(SIG_BLOCK, &held, &before_);
  on_threads(threads, [](unsigned number) {
    thread_local bool done = false;
    if (number == 0 || done) return;
    pthread_sigmask(SIG_BLOCK, &held, nullptr);
    done = true;
  });
}

HeldSignals::~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace feedrate::trainer::cpu
