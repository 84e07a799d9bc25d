#pragma once
// How many threads are worth starting on this machine.

namespace feedrate {

/// Processors that this process may run on (its affinity mask), at least 1. Any thread.
unsigned usable_cores();

}  // namespace feedrate
