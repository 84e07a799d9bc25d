#include "formats/io/partial_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "formats/base/error.h"
#include "formats/base/without_slash.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

void sync_directory(const fs::path& path) {
  const Descriptor directory = open_directory(path);
  if (fsync(directory.number()) != 0) fail_errno(path, "cannot reach the disk", errno);
}

void rename_without_replacing(const fs::path& from, const fs::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return;
  // Some file systems do not support this flag; the constructor has checked that `to` is new.
  if (errno == EINVAL && ::rename(from.c_str(), to.c_str()) == 0) return;
  const int failure = errno;
  fail_errno(to, join("cannot rename ", from.filename(), " to it"), failure);
}

// The absolute path that the directory is to have.
fs::path final_path(const fs::path& path) {
  if (path.empty()) throw Error("the name of the directory to make is empty");
  return without_slash(fs::absolute(path).lexically_normal());
}

}  // namespace

PartialDirectory::PartialDirectory(const fs::path& path, Stale stale) : final_(final_path(path)) {
  partial_ = final_;
  partial_ += ".partial";
  std::error_code error;
  if (fs::exists(fs::symlink_status(final_, error))) fail(final_, "exists already");
  if (error && error != std::errc::no_such_file_or_directory) {
    fail_errno(final_, "cannot look at", error.value());
  }
  try {
    make_parents();
    make_partial(stale);
  } catch (...) {
    remove_parents();
    throw;
  }
}

void PartialDirectory::make_parents() {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path at = final_.parent_path(); !fs::exists(at, error); at = at.parent_path()) {
    if (error) fail_errno(at, "cannot look at", error.value());
    missing.push_back(at);
  }
  std::reverse(missing.begin(), missing.end());
  for (const fs::path& parent : missing) {
    if (mkdir(parent.c_str(), 0777) != 0) fail_errno(parent, "cannot make the directory", errno);
    made_parents_.push_back(parent);
  }
}

void PartialDirectory::make_partial(Stale stale) {
  std::error_code error;
  if (fs::exists(partial_, error)) {
    lock_ = DirectoryLock(partial_);  // left by a killed run, or being filled by another process
    adopted_ = kept_ = stale == Stale::adopted;
    if (adopted_) return;
    remove_stale();
  }
  make_new();
}

void PartialDirectory::start_anew() {
  adopted_ = kept_ = false;
  remove_stale();
  make_new();
}

void PartialDirectory::remove_stale() {
  std::error_code error;
  fs::remove_all(partial_, error);
  lock_ = DirectoryLock();  // as a lock file it would keep this process out, too
  if (error) fail_errno(partial_, "cannot remove what an earlier run left", error.value());
}

void PartialDirectory::make_new() {
  if (mkdir(partial_.c_str(), 0777) != 0) {
    const int failure = errno;
    fail_errno(final_.parent_path(), join("cannot make ", partial_.filename(), " in it"), failure);
  }
  try {
    lock_ = DirectoryLock(partial_);
  } catch (const BeingWritten&) {
    throw;  // it is another process's now
  } catch (...) {
    rmdir(partial_.c_str());
    throw;
  }
}

void PartialDirectory::remove_parents() noexcept {
  // rmdir refuses a directory that is not empty, so what others put there stays.
  for (auto at = made_parents_.rbegin(); at != made_parents_.rend(); ++at) rmdir(at->c_str());
}

PartialDirectory::~PartialDirectory() {
  if (committed_ || kept_) return;
  std::error_code ignored;
  fs::remove_all(partial_, ignored);
  remove_parents();
}

void PartialDirectory::sync() {
  // One call for the whole file system is far quicker than fsync for each of 60,000 small PNG
  // files.
  if (syncfs(lock_.directory().number()) != 0) fail_errno(partial_, "cannot reach the disk", errno);
  if (fsync(lock_.directory().number()) != 0) fail_errno(partial_, "cannot reach the disk", errno);
}

void PartialDirectory::commit() {
  sync();
  rename_without_replacing(partial_, final_);
  committed_ = true;
  sync_directory(final_.parent_path());
}

}  // namespace feedrate::formats
