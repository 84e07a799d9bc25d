#pragma once
// Keeps signal handlers off the threads that compute.

#include <csignal>

namespace feedrate::trainer::cpu {

/// While it lives, no signal handler runs on the calling thread or on the `threads` OpenMP threads of
/// its team: another thread takes the signal, or the calling one when this is destroyed. The other
/// threads of the team take no signal from then on.
///
/// oneDNN's sgemm for AVX and AVX-512 lets the stack pointer point to its workspace on the heap where
/// the inner dimension of a product is above 32. There, the system would write the registers that it
/// saves for a handler, kilobytes of them, over the blocks below the workspace. Its convolutions and
/// products fall back on that sgemm for some shapes and processors, so every one of its calls needs
/// this.
///
/// Not held are the faults of an instruction (SIGSEGV, SIGFPE …), which sgemm does not raise, and
/// two signals that glibc keeps for itself: setuid() and its like, called while a step runs in
/// another thread, are not safe.
class HeldSignals {
 public:
  explicit HeldSignals(unsigned threads);
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace feedrate::trainer::cpu
