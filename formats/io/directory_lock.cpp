#include "formats/io/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "formats/io/replace.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

enum class Answer { locked, held_by_another, cannot };

// is_being_written() holds a shared lock for a moment, which is not a writer's.
constexpr int tries = 5;
constexpr std::chrono::milliseconds between_tries{10};

Answer try_lock(const Descriptor& file, int operation) {
  for (;;) {
    if (flock(file.number(), operation | LOCK_NB) == 0) return Answer::locked;
    if (errno == EWOULDBLOCK) return Answer::held_by_another;
    if (errno != EINTR) return Answer::cannot;
  }
}

Answer lock_exclusively(const Descriptor& file) {
  Answer answer = try_lock(file, LOCK_EX);
  for (int i = 1; i < tries && answer == Answer::held_by_another; ++i) {
    std::this_thread::sleep_for(between_tries);
    answer = try_lock(file, LOCK_EX);
  }
  return answer;
}

[[noreturn]] void fail_being_written(const fs::path& directory) {
  throw BeingWritten(join(directory, ": another process is writing it"));
}

[[noreturn]] void fail_without_locks(const fs::path& directory, int error_number) {
  fail_errno(directory,
             "this file system has no locks, so two jobs could write it at once; mount it with "
             "locks (Lustre: -o flock; NFS: without nolock), or write to another file system",
             error_number);
}

fs::path lock_file_of(const fs::path& directory) {
  fs::path file = directory;
  file += ".lock";
  return file;
}

}  // namespace

DirectoryLock::DirectoryLock(const fs::path& directory) : directory_(open_directory(directory)) {
  const Answer answer = lock_exclusively(directory_);
  if (answer == Answer::cannot) lock_file(directory);
  if (answer == Answer::held_by_another || !is_named(directory_, directory)) {
    fail_being_written(directory);
  }
}

// NFS turns flock() into a lock of bytes, for which the file must be open for writing.
void DirectoryLock::lock_file(const fs::path& directory) {
  const fs::path path = lock_file_of(directory);
  constexpr mode_t everybody = 0666;
  do {
    file_ = Descriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, everybody));
    if (!file_) fail_errno(path, "cannot open", errno);
    const Answer answer = lock_exclusively(file_);
    if (answer == Answer::held_by_another) fail_being_written(directory);
    if (answer == Answer::cannot) {
      const int why = errno;
      unlink(path.c_str());
      fail_without_locks(directory, why);
    }
  } while (!is_named(file_, path));
  file_path_ = path;
}

DirectoryLock::~DirectoryLock() {
  if (file_) unlink(file_path_.c_str());
}

DirectoryLock& DirectoryLock::operator=(DirectoryLock&& other) noexcept {
  std::swap(directory_, other.directory_);
  std::swap(file_path_, other.file_path_);
  std::swap(file_, other.file_);
  return *this;
}

bool is_being_written(const fs::path& directory) {
  const Answer answer = try_lock(open_directory(directory), LOCK_SH);
  if (answer != Answer::cannot) return answer == Answer::held_by_another;
  const fs::path path = lock_file_of(directory);
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return false;
  const Answer file_answer = try_lock(file, LOCK_SH);
  if (file_answer == Answer::cannot) fail_without_locks(directory, errno);
  return file_answer == Answer::held_by_another;
}

}  // namespace feedrate::formats
