// Signals in a child process, since they end it.

#include "tools/console/signals.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "formats/base/stop.h"

namespace feedrate::tools {
namespace {

/// The signal that ended a child doing `work`, or 0 when it came to its end.
int ended_by(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    handle_signals();
    work();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(CommandsSignals, without_a_graceful_stop_the_first_ends_the_process) {
  EXPECT_EQ(ended_by([] { std::raise(SIGTERM); }), SIGTERM);
  EXPECT_EQ(ended_by([] {
              { const GracefulStop over; }
              std::raise(SIGINT);
            }),
            SIGINT);
}

TEST(CommandsSignals, with_one_the_first_requests_a_stop_and_the_second_ends_the_process) {
  EXPECT_EQ(ended_by([] {
              const GracefulStop graceful;
              std::raise(SIGINT);
              if (stop_signal() != SIGINT || !formats::stop_requested()) std::raise(SIGKILL);
            }),
            0);
  EXPECT_EQ(ended_by([] {
              const GracefulStop graceful;
              std::raise(SIGINT);
              std::raise(SIGTERM);
            }),
            SIGTERM);
}

TEST(CommandsSignals, one_that_is_ignored_stays_ignored) {
  std::signal(SIGHUP, SIG_IGN);
  EXPECT_EQ(ended_by([] { std::raise(SIGHUP); }), 0);
  std::signal(SIGHUP, SIG_DFL);
}

}  // namespace
}  // namespace feedrate::tools
