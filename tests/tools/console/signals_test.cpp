// Signals in a child process, since they end it.

#include "tools/console/signals.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>

#include "formats/base/stop.h"
#include "tools/lab/bench/process.h"

namespace feedrate::tools {
namespace {

/// The signal that ended a child doing `work`, or 0 when it came to its end.
int ended_by(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    block_signals();
    take_signals();
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void send_self(int signal) { kill(getpid(), signal); }
void wait_for_the_end() { std::this_thread::sleep_for(std::chrono::minutes(1)); }
void fail_unless(bool condition) {
  if (!condition) std::raise(SIGKILL);
}

TEST(CommandsSignals, without_a_graceful_stop_the_first_ends_the_process) {
  EXPECT_EQ(ended_by([] {
              send_self(SIGTERM);
              wait_for_the_end();
            }),
            SIGTERM);
  EXPECT_EQ(ended_by([] {
              { const GracefulStop over; }
              send_self(SIGINT);
              wait_for_the_end();
            }),
            SIGINT);
}

TEST(CommandsSignals, with_one_the_first_requests_a_stop_and_the_second_ends_the_process) {
  EXPECT_EQ(ended_by([] {
              const GracefulStop graceful;
              send_self(SIGINT);
              while (!formats::stop_requested()) std::this_thread::yield();
              fail_unless(stop_signal() == SIGINT);
            }),
            0);
  EXPECT_EQ(ended_by([] {
              const GracefulStop graceful;
              send_self(SIGINT);
              while (!formats::stop_requested()) std::this_thread::yield();
              send_self(SIGTERM);
              wait_for_the_end();
            }),
            SIGTERM);
}

TEST(CommandsSignals, one_that_is_ignored_stays_ignored) {
  std::signal(SIGHUP, SIG_IGN);
  EXPECT_EQ(ended_by([] {
              const GracefulStop graceful;
              send_self(SIGHUP);
              send_self(SIGTERM);  // taken, and after the other
              while (!formats::stop_requested()) std::this_thread::yield();
              fail_unless(stop_signal() == SIGTERM);
            }),
            0);
  std::signal(SIGHUP, SIG_DFL);
}

TEST(CommandsSignals, the_processes_it_starts_block_what_it_blocked_at_its_start) {
  const auto blocked = [] { return run_program("grep", {"SigBlk", "/proc/self/status"}).output; };
  const std::string at_start = blocked();
  EXPECT_EQ(ended_by([&] {
              fail_unless(blocked() == at_start);
              if (fork() == 0) {  // as libraries do
                send_self(SIGTERM);
                wait_for_the_end();
              }
              int status = 0;
              wait(&status);
              fail_unless(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
            }),
            0);
}

}  // namespace
}  // namespace feedrate::tools
