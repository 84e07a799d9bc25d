#include "formats/base/thread_time.h"

#include <gtest/gtest.h>

namespace feedrate::formats {
namespace {

using std::chrono::nanoseconds;

TEST(UnitThreadTime, grows_with_the_work_of_the_thread) {
  const nanoseconds begin = thread_cpu_time();
  while (thread_cpu_time() - begin < nanoseconds(100'000)) {
  }
  EXPECT_GE((thread_cpu_time() - begin).count(), 100'000);
}

}  // namespace
}  // namespace feedrate::formats
