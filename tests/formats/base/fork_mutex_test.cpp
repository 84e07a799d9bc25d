#include "formats/base/fork_mutex.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace feedrate::formats {
namespace {

TEST(UnitForkMutex, a_child_never_finds_it_held_and_a_parent_goes_on) {
  static ForkMutex& mutex = *new ForkMutex;
  std::atomic<bool> stop{false};
  std::jthread holder([&] {
    while (!stop) {
      const std::lock_guard lock(mutex);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  for (int round = 0; round < 50; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // ends a child that waits for ever
      mutex.lock();
      _exit(0);
    }
    ASSERT_GT(child, 0);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << round;
    if (status != 0) break;
  }
  stop = true;
}

}  // namespace
}  // namespace feedrate::formats
