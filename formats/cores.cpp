#include "formats/cores.h"

#include <sched.h>

#include <algorithm>

namespace feedrate {

unsigned usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1U, static_cast<unsigned>(CPU_COUNT(&set)));
}

}  // namespace feedrate
