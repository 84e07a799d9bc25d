#pragma once
// What has to be known of forks by those who hand loaders to other languages: threads stay in the
// parent. Any thread.

namespace feedrate::tools {

/// How often this process was forked since this library was loaded. What uses threads or locks
/// belongs to one generation.
unsigned fork_generation();

/// Remembers that this process has started loader threads.
void note_threads();
/// Whether a process that it was forked from had: threads that are missing here.
bool threads_before_fork();

}  // namespace feedrate::tools
