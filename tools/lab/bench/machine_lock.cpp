#include "tools/lab/bench/machine_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "formats/base/error.h"
#include "formats/base/text.h"

namespace feedrate::tools {
using namespace formats;

namespace {

constexpr int lock_flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;

// In a sticky directory such as /tmp, Linux refuses O_CREAT on another user's file. So open it
// first, and create it only if it does not exist.
int open_shared(const std::filesystem::path& path) {
  constexpr mode_t everybody = 0666;
  int file = open(path.c_str(), lock_flags);
  if (file >= 0 || errno != ENOENT) return file;
  file = open(path.c_str(), lock_flags | O_CREAT | O_EXCL, everybody);
  if (file < 0) return errno == EEXIST ? open(path.c_str(), lock_flags) : file;
  fchmod(file, everybody);  // whatever the umask
  return file;
}

std::string holder(int file) {
  char text[32] = {};
  const ssize_t got = pread(file, text, sizeof text, 0);
  const auto pid = parse_number<std::uint32_t>({text, static_cast<std::size_t>(got < 0 ? 0 : got)});
  return pid ? join("process ", *pid) : "another process";
}

}  // namespace

MachineLock::MachineLock(const std::filesystem::path& directory) {
  const std::filesystem::path path = directory / "feedrate-bench.lock";
  file_ = Descriptor(open_shared(path));
  if (!file_) fail_errno(path, "cannot open", errno);
  if (flock(file_.number(), LOCK_EX | LOCK_NB) != 0) {
    throw Error(join("a bench is running on this machine (", holder(file_.number()),
                     "), and each would measure the other; wait for it, or give --beside-others"));
  }
  const std::string pid = std::to_string(getpid());
  if (ftruncate(file_.number(), 0) != 0 ||
      pwrite(file_.number(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    fail_errno(path, "cannot write to it", errno);
  }
}

}  // namespace feedrate::tools
