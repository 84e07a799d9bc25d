#include "tools/cli/spinning.h"

#include <unistd.h>

#include <cstdlib>

namespace feedrate::tools {
namespace {

constexpr const char *spins = "GOMP_SPINCOUNT", *turns = "3000";

}  // namespace

void spin_briefly(char** arguments) {
  if (std::getenv(spins) != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv(spins, turns, 0);
  execv("/proc/self/exe", arguments);
  unsetenv(spins);
}

}  // namespace feedrate::tools
