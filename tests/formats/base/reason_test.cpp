#include "formats/base/reason.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>
#include <system_error>

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

std::string reason_behind(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return reason_of(error);
  }
  return "nothing failed";
}

TEST(UnitReason, our_own_errors_say_what_they_say) {
  EXPECT_EQ(reason_of(Error("a: expected b")), "a: expected b");
  EXPECT_EQ(reason_of(std::runtime_error("something else")), "something else");
}

TEST(UnitReason, a_file_is_named_first_and_the_library_not_at_all) {
  EXPECT_EQ(reason_behind([] { (void)std::filesystem::file_size("no/such"); }),
            "no/such: No such file or directory");
  EXPECT_EQ(reason_behind([] { std::filesystem::rename("no/such", "other"); }),
            "no/such and other: No such file or directory");
}

TEST(UnitReason, a_lack_of_threads_or_memory_names_the_limit) {
  rlimit threads{};
  ASSERT_EQ(getrlimit(RLIMIT_NPROC, &threads), 0);
  const std::system_error by_system(EAGAIN, std::generic_category());
  const std::runtime_error by_tbb("pthread_create has failed: Resource temporarily unavailable");
  for (const std::exception* error : {static_cast<const std::exception*>(&by_system),
                                      static_cast<const std::exception*>(&by_tbb)}) {
    const std::string reason = reason_of(*error);
    EXPECT_TRUE(reason.starts_with("the system starts no further thread")) << reason;
    EXPECT_EQ(reason.find("unavailable"), std::string::npos) << reason;
    EXPECT_EQ(reason.find("ulimit -u") != std::string::npos, threads.rlim_cur != RLIM_INFINITY);
  }
  EXPECT_TRUE(reason_of(std::bad_alloc()).starts_with("out of memory"));
}

}  // namespace
}  // namespace feedrate::formats
