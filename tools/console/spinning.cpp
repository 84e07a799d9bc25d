#include "tools/console/spinning.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "tools/console/signals.h"

namespace feedrate::tools {
namespace {

constexpr const char *spins = "GOMP_SPINCOUNT", *turns = "3000";

}  // namespace

void spin_briefly(char** arguments) {
  if (std::getenv(spins) != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  // By its path, because the system would call a program started as /proc/self/exe "exe".
  std::error_code unknown;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (unknown) return;
  setenv(spins, turns, 0);
  pthread_sigmask(SIG_SETMASK, &signals_blocked_at_start(), nullptr);
  execv(program.c_str(), arguments);
  block_signals();
  unsetenv(spins);
}

}  // namespace feedrate::tools
