#include "tools/bindings/c/forks.h"

#include <pthread.h>

#include <atomic>

namespace feedrate::tools {
namespace {

std::atomic<unsigned> generation{0};
std::atomic<bool> started_threads{false};  // by this process, or by one that it was forked from
std::atomic<bool> threads_lost{false};     // by one of the latter

extern "C" void count_fork() {
  generation.fetch_add(1);
  threads_lost.store(started_threads.load());
}

const int watching = pthread_atfork(nullptr, nullptr, count_fork);

}  // namespace

unsigned fork_generation() { return generation.load(); }
void note_threads() { started_threads.store(true); }
bool threads_before_fork() { return threads_lost.load(); }

}  // namespace feedrate::tools
