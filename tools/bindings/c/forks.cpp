#include "tools/bindings/c/forks.h"

#include <pthread.h>

#include <atomic>

namespace feedrate::tools {
namespace {

std::atomic<unsigned> generation{0};
std::atomic<bool> started_threads{false};

extern "C" void count_fork() { generation.fetch_add(1); }

const int watching = pthread_atfork(nullptr, nullptr, count_fork);

}  // namespace

unsigned fork_generation() { return generation.load(); }
void note_threads() { started_threads.store(true); }
bool threads_before_fork() { return started_threads.load(); }

}  // namespace feedrate::tools
