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

bool has_file(const fs::path& directory, std::string_view name) {
  std::error_code ignored;
  return fs::is_regular_file(fs::symlink_status(directory / name, ignored));
}

// Versions before the mark left a journal, from their first save on, and no sidecar while unfinished.
bool is_of_older_version(const fs::path& directory) {
  return has_file(directory, PartialDirectory::progress) && has_file(directory, "progress.bin") &&
         !has_file(directory, "feedrate.json");
}

// An empty one was left by a process killed before it made the mark, or is nobody's loss.
bool is_own(const fs::path& directory) {
  std::error_code error;
  const bool empty = fs::is_empty(directory, error) && !error;
  return empty || has_file(directory, PartialDirectory::mark) || is_of_older_version(directory);
}

[[noreturn]] void fail_foreign(const fs::path& partial, const fs::path& target) {
  fail(partial,
       "is nothing that an interrupted run left, so it is kept; move it away, remove it, or "
       "choose another name than ",
       target.filename());
}

// On disk before it returns: other names may reach it in another order.
void remove_progress(const fs::path& directory, std::error_code& error) {
  if (!fs::remove(directory / PartialDirectory::progress, error)) return;
  const Descriptor opened(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened || fsync(opened.number()) != 0) error.assign(errno, std::generic_category());
}

// The mark goes last, so that a process killed meanwhile leaves it.
void remove_all_but_mark(const fs::path& directory, std::error_code& error) {
  remove_progress(directory, error);
  if (error) return;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().filename() == PartialDirectory::mark) continue;
    fs::remove_all(entry->path(), error);
    if (error) return;
  }
}

}  // namespace

PartialDirectory::PartialDirectory(const fs::path& path, Stale stale) : final_(final_path(path)) {
  partial_ = final_;
  partial_ += ".partial";
  std::error_code error;
  if (fs::exists(fs::symlink_status(final_, error))) {
    if (fs::is_directory(final_)) remove_mark(final_);
    fail(final_, "exists already");
  }
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
  if (fs::exists(fs::symlink_status(partial_, error))) {
    take_over(stale);
  } else {
    make_new();
  }
}

// Left by a killed run, being filled by another process, or somebody else's.
void PartialDirectory::take_over(Stale stale) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(partial_, error))) fail_foreign(partial_, final_);
  lock_ = DirectoryLock(partial_);
  if (!is_own(partial_)) fail_foreign(partial_, final_);
  make_mark();
  adopted_ = kept_ = stale == Stale::adopted;
  if (!adopted_) remove_stale();
}

void PartialDirectory::start_anew() {
  adopted_ = kept_ = false;
  remove_stale();
}

void PartialDirectory::remove_stale() const {
  std::error_code error;
  remove_all_but_mark(partial_, error);
  if (error) fail_errno(partial_, "cannot remove what an earlier run left", error.value());
}

void PartialDirectory::make_new() {
  if (mkdir(partial_.c_str(), 0777) != 0) {
    const int failure = errno;
    fail_errno(final_.parent_path(), join("cannot make ", partial_.filename(), " in it"), failure);
  }
  try {
    lock_ = DirectoryLock(partial_);
    make_mark();
  } catch (const BeingWritten&) {
    throw;  // it is another process's now
  } catch (...) {
    rmdir(partial_.c_str());
    throw;
  }
}

// In one step: a process that is killed before it leaves what it found, most often nothing.
void PartialDirectory::make_mark() const {
  constexpr mode_t everybody = 0666;
  const fs::path file = partial_ / mark;
  constexpr int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  if (!Descriptor(open(file.c_str(), flags, everybody))) fail_errno(file, "cannot create", errno);
}

void PartialDirectory::remove_parents() noexcept {
  // rmdir refuses a directory that is not empty, so what others put there stays.
  for (auto at = made_parents_.rbegin(); at != made_parents_.rend(); ++at) rmdir(at->c_str());
}

PartialDirectory::~PartialDirectory() {
  if (committed_ || kept_) return;
  try {
    std::error_code error;
    remove_all_but_mark(partial_, error);
    if (error) return;  // it stays marked
    unlink((partial_ / mark).c_str());
    rmdir(partial_.c_str());
    remove_parents();
  } catch (const std::bad_alloc&) {  // likewise
  }
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
  remove_mark(final_);
  sync_directory(final_.parent_path());
}

void remove_mark(const fs::path& directory) {
  const fs::path file = directory / PartialDirectory::mark;
  std::error_code error;
  if (has_file(directory, PartialDirectory::mark)) fs::remove(file, error);
  if (error) fail_errno(file, "cannot remove", error.value());
}

}  // namespace feedrate::formats
