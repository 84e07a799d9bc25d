#include "formats/io/directory_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "formats/io/partial_directory.h"
#include "tests/support/expect_error.h"
#include "tests/support/temp_directory.h"

namespace {

/// What the file system of a test can lock.
enum class Locks { all, files, nothing } locks = Locks::all;

}  // namespace

/// In place of libc's: as NFS does, which refuses to lock what is not open for writing; and as Lustre
/// does when it was mounted without locks.
extern "C" int flock(int file, int operation) noexcept {
  struct stat what {};
  fstat(file, &what);
  if (locks == Locks::nothing) {
    errno = ENOSYS;
    return -1;
  }
  if (locks == Locks::files && S_ISDIR(what.st_mode)) {
    errno = EBADF;
    return -1;
  }
  return static_cast<int>(syscall(SYS_flock, file, operation));
}

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;
using testing::expect_error;
using testing::TempDirectory;

class UnitDirectoryLock : public ::testing::TestWithParam<Locks> {
 protected:
  UnitDirectoryLock() { locks = GetParam(); }
  ~UnitDirectoryLock() override { locks = Locks::all; }

  TempDirectory temporary_;
};

TEST_P(UnitDirectoryLock, a_second_writer_is_told_until_the_first_ends) {
  const fs::path path = temporary_.path() / "set";
  fs::create_directory(path);
  EXPECT_FALSE(is_being_written(path));
  {
    const DirectoryLock lock(path);
    EXPECT_TRUE(is_being_written(path));
    expect_error([&] { DirectoryLock{path}; }, {"set", "another process is writing it"});
  }
  EXPECT_FALSE(is_being_written(path));
  const DirectoryLock again(path);
  EXPECT_TRUE(is_being_written(path));
}

TEST_P(UnitDirectoryLock, a_partial_directory_leaves_only_what_it_made) {
  std::optional<PartialDirectory> partial(temporary_.path() / "set");
  EXPECT_THROW(PartialDirectory{temporary_.path() / "set"}, BeingWritten);
  partial->keep();
  partial.reset();
  partial.emplace(temporary_.path() / "set");  // in place of what a killed run left
  partial->commit();
  partial.reset();
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(temporary_.path())) {
    names.push_back(entry.path().filename().string());
  }
  EXPECT_EQ(names, std::vector<std::string>{"set"});
}

// What a lock file says when its holder was killed.
TEST_P(UnitDirectoryLock, the_file_of_a_killed_writer_locks_nothing) {
  const fs::path path = temporary_.path() / "set";
  fs::create_directory(path);
  write_text(temporary_.path() / "set.lock", "");
  EXPECT_FALSE(is_being_written(path));
  const DirectoryLock lock(path);
  EXPECT_TRUE(is_being_written(path));
}

INSTANTIATE_TEST_SUITE_P(, UnitDirectoryLock, ::testing::Values(Locks::all, Locks::files),
                         [](const auto& locked) {
                           return locked.param == Locks::all ? "local" : "nfs";
                         });

TEST(HostileDirectoryLock, a_file_system_without_locks_is_named_with_what_to_do) {
  const TempDirectory temporary;
  locks = Locks::nothing;
  expect_error([&] { PartialDirectory{temporary.path() / "set"}; },
               {"set.partial", "has no locks", "-o flock", "not implemented"});
  locks = Locks::all;
  EXPECT_TRUE(fs::is_empty(temporary.path()));
}

}  // namespace
}  // namespace feedrate::formats
