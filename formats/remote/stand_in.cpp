#include "formats/remote/stand_in.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "formats/base/error.h"
#include "formats/remote/remote_object.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "feedrate-remote-";

// Locks a directory, if no living process has.
Descriptor locked(const fs::path& directory) {
  Descriptor lock(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (lock && ::flock(lock.number(), LOCK_EX | LOCK_NB) != 0) return {};
  return lock;
}

// Those of processes that were killed. Others' cannot be removed, and need not be.
void remove_left_behind(const fs::path& place) {
  std::error_code error;
  for (fs::directory_iterator at(place, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    struct stat status {};
    if (!at->path().filename().string().starts_with(prefix)) continue;
    if (::lstat(at->path().c_str(), &status) != 0 || status.st_uid != ::geteuid()) continue;
    if (const Descriptor lock = locked(at->path())) fs::remove_all(at->path(), ignored);
  }
}

// The last part of "https://host/a/b/": "b".
std::string name_of(std::string_view shown) {
  while (shown.ends_with('/')) shown.remove_suffix(1);
  const std::string name(shown.substr(shown.rfind('/') + 1));
  return name.empty() || name == "." || name == ".." ? "dataset" : name;
}

// The times of a file that was written when its version was: another version has another time.
timespec time_of(const ObjectVersion& version) {
  constexpr std::uint64_t seconds_of_30_years = 1'000'000'000;
  const std::uint64_t number = version_number(version);
  return {static_cast<time_t>(number % seconds_of_30_years),
          static_cast<long>(number / seconds_of_30_years % 1'000'000'000)};
}

}  // namespace

StandIn::StandIn(const std::shared_ptr<const Origin>& origin, const std::vector<RemoteFile>& files,
                 const RemoteSettings& settings)
    : process_(::getpid()) {
  make_place();
  directory_ = place_ / name_of(origin->shown());
  fs::create_directory(directory_);
  name_ = std::make_unique<ShownAs>(directory_, origin->shown());
  try {
    for (const RemoteFile& file : files) {
      if (file.name != "." && file.name != "..") add(origin, file, settings);
    }
    const timespec none[] = {{0, 0}, {0, 0}};  // the directory's: that of its making says nothing
    ::utimensat(AT_FDCWD, directory_.c_str(), none, 0);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(place_, ignored);
    throw;
  }
}

StandIn::~StandIn() {
  files_.clear();
  std::error_code ignored;
  if (process_ == ::getpid()) fs::remove_all(place_, ignored);
}

void StandIn::expect_had() const {
  for (const auto& object : objects_) object->expect_had();
}

void StandIn::let_go() const {
  for (const auto& object : objects_) object->let_go();
}

void StandIn::make_place() {
  const fs::path temporary = fs::temp_directory_path();
  remove_left_behind(temporary);
  // Another process may take it for one left behind, between its making and its locking.
  for (int attempt = 0; attempt < 10; ++attempt) {
    std::string name = (temporary / join(prefix, "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) fail_errno(name, "cannot make a directory", errno);
    lock_ = locked(name);
    std::error_code ignored;
    if (lock_ && fs::exists(name, ignored)) {
      place_ = name;
      return;
    }
  }
  fail(temporary, "cannot make a directory here: others are removed at once");
}

void StandIn::add(const std::shared_ptr<const Origin>& origin, const RemoteFile& file,
                  const RemoteSettings& settings) {
  const fs::path path = directory_ / file.name;
  const Descriptor made(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!made) fail_errno(path, "cannot make a file that stands in for it", errno);
  if (::ftruncate(made.number(), static_cast<off_t>(file.version.size)) != 0) {
    fail_errno(path, join("cannot make a file of ", file.version.size, " bytes"), errno);
  }
  const timespec written = time_of(file.version);
  const timespec times[] = {written, written};
  if (::futimens(made.number(), times) != 0) fail_errno(path, "cannot set the time of", errno);
  struct stat status {};
  if (::fstat(made.number(), &status) != 0) fail_errno(path, "cannot look at", errno);
  objects_.push_back(std::make_shared<RemoteObject>(origin, file, settings));
  const FileId id{status.st_dev, status.st_ino};
  files_.push_back(std::make_unique<LateFile>(id, objects_.back()));
}

}  // namespace feedrate::formats
