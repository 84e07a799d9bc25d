#include "formats/base/thread_time.h"

#include <cstdint>
#include <ctime>
#include <fstream>

namespace feedrate::formats {

std::chrono::nanoseconds thread_cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

std::chrono::nanoseconds thread_cpu_wanted() {
  std::ifstream file("/proc/thread-self/schedstat");
  std::int64_t ran = 0, waited = 0;
  if (!(file >> ran >> waited)) return thread_cpu_time();
  return std::chrono::nanoseconds(ran + waited);
}

}  // namespace feedrate::formats
