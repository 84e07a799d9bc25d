#pragma once
// A limit on the size of files, which stands in for a full disk: no file system has to be filled.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

namespace feedrate::testing {

/// While it lives, no file of this process grows beyond `bytes`: write() fails with EFBIG.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : on_excess_(std::signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit tight{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, on_excess_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  void (*on_excess_)(int);
  rlimit before_{};
};

}  // namespace feedrate::testing
