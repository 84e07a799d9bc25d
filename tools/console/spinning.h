#pragma once
// How long OpenMP's threads spin while they wait for one another.

namespace feedrate::tools {

/// Makes the threads of a trainer on the CPU spin for some 50 µs before they sleep. A step has
/// hundreds of shorter waits, and to wake a thread takes longer than most of them; threads that spin
/// for milliseconds, as they would by default, take cores from the loader.
///
/// libgomp reads this from the environment before main(), so the program starts again, in the same
/// process: call this first in main(), with its arguments. Does nothing where the user has set
/// GOMP_SPINCOUNT or OMP_WAIT_POLICY; where the program cannot be started again, threads sleep at
/// once (trainer/backends/cpu/threads/idle_threads.h).
void spin_briefly(char** arguments);

}  // namespace feedrate::tools
