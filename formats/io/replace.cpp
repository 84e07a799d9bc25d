#include "formats/io/replace.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "formats/base/error.h"

namespace feedrate::formats {

namespace fs = std::filesystem;

fs::path replaceable(const fs::path& path) {
  std::error_code ignored;
  fs::path target = path;
  if (fs::is_symlink(path, ignored) && fs::exists(path, ignored)) target = fs::canonical(path);
  if (fs::is_directory(target, ignored)) fail(path, "cannot replace: is a directory");
  if (is_device(target)) return target;
  const fs::path parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (access(parent.c_str(), W_OK | X_OK) != 0) {
    const int failure = errno;
    fail_errno(path, "cannot create", failure);
  }
  return target;
}

bool is_device(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

bool is_named(const Descriptor& file, const fs::path& name) {
  struct stat held {
  }, named{};
  return fstat(file.number(), &held) == 0 && stat(name.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

}  // namespace feedrate::formats
