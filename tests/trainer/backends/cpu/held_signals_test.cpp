// Signals, sent to every thread that computes.

#include "trainer/backends/cpu/threads/held_signals.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "formats/base/bytes.h"
#include "tests/trainer/batches.h"
#include "trainer/backends/backend.h"
#include "trainer/networks/network.h"

namespace feedrate::trainer {
using namespace formats;
using namespace loader;

namespace {

using testing::RandomSource;

constexpr unsigned team_size = 3;
constexpr int to_send = SIGUSR1;

// What the handler finds. It runs on the thread that the signal was sent to.
std::atomic<bool> stepping = false;
std::atomic<std::uintptr_t> stack_begin = 0, stack_end = 0;  // of the thread that calls the session
std::atomic<int> on_its_stack = 0, elsewhere = 0;

void note_where(int) {
  const char here = 0;
  const auto at = reinterpret_cast<std::uintptr_t>(&here);
  const bool known = at >= stack_begin && at < stack_end;
  if (stepping) ++(known ? on_its_stack : elsewhere);
}

void note_own_stack() {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
  void* begin = nullptr;
  std::size_t size = 0;
  pthread_attr_getstack(&attributes, &begin, &size);
  pthread_attr_destroy(&attributes);
  stack_begin = reinterpret_cast<std::uintptr_t>(begin);
  stack_end = stack_begin + size;
}

bool blocks_signal(pid_t thread, int signal) {
  std::ifstream status(join("/proc/self/task/", thread, "/status"));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("SigBlk:")) continue;
    return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
  }
  ADD_FAILURE() << "no such thread";
  return false;
}

TEST(UnitHeldSignals, no_handler_runs_where_a_step_computes) {
  ASSERT_NE(std::signal(to_send, note_where), SIG_ERR);
  std::array<pid_t, team_size> team{};
  std::jthread trainer([&](const std::stop_token& stop) {
    note_own_stack();
    // A team that took signals before the session used it.
#pragma omp parallel num_threads(team_size)
    team[static_cast<std::size_t>(omp_get_thread_num())] = gettid();
    const auto session =
        backend("cpu").compile(make_plan(network("lenet").build({28, 28, 1}, 10), 16),
                               {.threads = team_size, .optimizer = &optimizer("sgd")});
    initialise(*session, 1);
    RandomSource source({.batch = 16});
    session->upload(*source.next());
    for (std::uint64_t step = 0; !stop.stop_requested(); ++step) {
      session->train_step({.rate = 0.01}, step);
      session->evaluate_step();
      stepping = true;
    }
  });
  while (!stepping) std::this_thread::yield();
  bool caller_seen_held = false;
  const auto enough = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  while (std::chrono::steady_clock::now() < enough) {
    for (const pid_t thread : team) {
      ASSERT_EQ(tgkill(getpid(), thread, to_send), 0);
      const bool blocked = blocks_signal(thread, to_send);
      if (thread == team[0]) {
        caller_seen_held |= blocked;
      } else {
        EXPECT_TRUE(blocked);
      }
    }
  }
  trainer.request_stop();
  trainer.join();
  std::signal(to_send, SIG_IGN);
  EXPECT_TRUE(caller_seen_held);
  EXPECT_GT(on_its_stack, 0) << "between steps, the caller takes signals";
  EXPECT_EQ(elsewhere, 0) << "on sgemm's workspace, or on a thread of the team";
}

TEST(UnitHeldSignals, a_fault_is_not_held) {
  const cpu::HeldSignals held(1);
  sigset_t now;
  pthread_sigmask(SIG_BLOCK, nullptr, &now);
  EXPECT_TRUE(sigismember(&now, SIGPROF));
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE}) EXPECT_FALSE(sigismember(&now, fault));
}

}  // namespace
}  // namespace feedrate::trainer
