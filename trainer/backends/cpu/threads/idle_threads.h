#pragma once
// Threads that wait for work must leave the cores to the loader.

namespace feedrate::trainer::cpu {

/// From now on OpenMP threads that wait sleep after some microseconds. Call before work on
/// `threads` of them; calling again costs nothing.
///
/// libgomp lets a waiting thread spin for milliseconds, unless all teams together have more threads
/// than there are cores: then for microseconds only. Its environment variables for this are read
/// before main() and so are out of a library's reach; a second team that sleeps is not. Under
/// another OpenMP runtime this does nothing, at no cost.
void let_idle_threads_sleep(unsigned threads);

}  // namespace feedrate::trainer::cpu
