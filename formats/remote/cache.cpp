#include "formats/remote/cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>

#include "formats/base/error.h"
#include "formats/base/fork_mutex.h"
#include "formats/remote/cache_file.h"
#include "formats/remote/counts.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds full_for{5};
constexpr std::chrono::seconds refused_for{60};  // a block is fetched and written in vain each time

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Threads of this process; processes are kept apart by the file's lock.
ForkMutex& writers() {
  static auto* const one = new ForkMutex;
  return *one;
}

struct Lock {
  Descriptor file;
  bool may_write = true;
};

Lock open_lock(const fs::path& directory, int more_flags) {
  const fs::path file = directory / "lock";
  Lock lock{Descriptor(::open(file.c_str(), O_RDWR | O_CLOEXEC | more_flags, 0666))};
  if (lock.file) return lock;
  const int problem = errno;
  if (forbids_writing(problem)) {
    lock = {Descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC)), false};
  }
  if (!lock.file) fail_errno(file, "cannot open the lock of a cache", problem);
  return lock;
}

Lock open_lock_to_clear(const fs::path& directory) {
  Lock lock = open_lock(directory, 0);
  if (!lock.may_write) fail(directory / "lock", "cannot clear a cache that cannot be written to");
  return lock;
}

// Who only reads keeps nobody from reading.
void take(const Descriptor& lock, bool may_write, const fs::path& directory) {
  while (::flock(lock.number(), may_write ? LOCK_EX : LOCK_SH) != 0) {
    if (errno != EINTR) fail_errno(directory / "lock", "cannot lock a cache", errno);
  }
}

struct OneObject {
  fs::path file;
  struct stat status {};
};

std::vector<OneObject> objects_in(const fs::path& directory) {
  std::vector<OneObject> all;
  std::error_code error;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    OneObject one{at->path(), {}};
    if (one.file.extension() != object_extension) continue;
    if (::lstat(one.file.c_str(), &one.status) == 0 && S_ISREG(one.status.st_mode)) {
      all.push_back(std::move(one));
    }
  }
  if (error) fail(directory, "cannot list a cache: ", error.message());
  std::ranges::sort(all, [](const OneObject& a, const OneObject& b) {
    return std::pair(a.status.st_mtim.tv_sec, a.status.st_mtim.tv_nsec) <
           std::pair(b.status.st_mtim.tv_sec, b.status.st_mtim.tv_nsec);
  });
  return all;
}

// Whether no process uses the file, which stays so while the result lives and the cache is locked.
Descriptor unused(const fs::path& file) {
  Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (opened && ::flock(opened.number(), LOCK_EX | LOCK_NB) != 0) return {};
  return opened;
}

std::uint64_t remove_unless_used(const OneObject& object) {
  const Descriptor file = unused(object.file);
  if (!file || ::unlink(object.file.c_str()) != 0) return 0;
  return bytes_on_disk(object.status.st_blocks);
}

std::uint64_t all_bytes(const std::vector<OneObject>& objects) {
  std::uint64_t sum = 0;
  for (const OneObject& one : objects) sum += bytes_on_disk(one.status.st_blocks);
  return sum;
}

}  // namespace

CacheDirectory::CacheDirectory(fs::path path, std::uint64_t max_bytes)
    : path_(std::move(path)), max_bytes_(max_bytes) {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) fail(path_, "cannot make the directory of a cache: ", error.message());
  Locked(*this).recount();  // processes that were killed may have left another number
}

std::shared_ptr<CacheDirectory> CacheDirectory::of_process(const fs::path& path,
                                                           std::uint64_t max_bytes) {
  static auto& mutex = *new ForkMutex;
  static auto* const all =
      new std::map<std::pair<fs::path, std::uint64_t>, std::weak_ptr<CacheDirectory>>;
  const std::lock_guard lock(mutex);
  std::weak_ptr<CacheDirectory>& known = (*all)[{fs::absolute(path), max_bytes}];
  std::shared_ptr<CacheDirectory> directory = known.lock();
  if (directory == nullptr) {
    directory = std::make_shared<CacheDirectory>(fs::absolute(path), max_bytes);
    known = directory;
  }
  return directory;
}

bool CacheDirectory::may_grow() const {
  return !read_only_.load() && now_ms() >= full_until_.load();
}

void CacheDirectory::stop_growing(int problem) {
  full_until_.store(now_ms() + std::chrono::milliseconds(refused_for).count());
  FetchCounters::of_process().not_kept(problem);
}

CacheDirectory::Locked::Locked(CacheDirectory& of) : of_(of) {
  writers().lock();
  try {
    if (of_.process_ != ::getpid()) {
      Lock lock = open_lock(of_.path_, O_CREAT);
      of_.lock_ = std::move(lock.file);
      of_.read_only_.store(!lock.may_write);
      of_.process_ = ::getpid();
    }
    take(of_.lock_, may_write(), of_.path_);
  } catch (...) {
    writers().unlock();
    throw;
  }
}

CacheDirectory::Locked::~Locked() {
  ::flock(of_.lock_.number(), LOCK_UN);
  writers().unlock();
}

std::uint64_t CacheDirectory::Locked::used() const {
  std::uint64_t bytes = 0;
  const ssize_t count = ::pread(of_.lock_.number(), &bytes, sizeof bytes, 0);
  return count == sizeof bytes ? bytes : 0;
}

void CacheDirectory::Locked::set_used(std::uint64_t bytes) const {
  if (!may_write()) return;
  if (::pwrite(of_.lock_.number(), &bytes, sizeof bytes, 0) == sizeof bytes) return;
  of_.stop_growing(errno);
  of_.read_only_.store(true);  // nothing is kept that is not counted
}

bool CacheDirectory::Locked::make_room(std::uint64_t bytes) {
  if (!may_write()) return false;
  if (used() + bytes <= of_.max_bytes_) return true;
  std::vector<OneObject> objects = objects_in(of_.path_);
  std::uint64_t all = all_bytes(objects);
  for (const OneObject& object : objects) {
    if (all + bytes <= of_.max_bytes_) break;
    all -= remove_unless_used(object);
  }
  set_used(all);
  if (all + bytes <= of_.max_bytes_) return true;
  of_.full_until_.store(now_ms() + std::chrono::milliseconds(full_for).count());
  return false;
}

void CacheDirectory::Locked::recount() { set_used(all_bytes(objects_in(of_.path_))); }

void CacheDirectory::Locked::add(std::int64_t bytes) {
  if (bytes != 0) set_used(used() + static_cast<std::uint64_t>(bytes));
}

std::vector<KeptObject> kept_objects(const fs::path& directory) {
  const Lock lock = open_lock(directory, 0);
  take(lock.file, lock.may_write, directory);
  std::vector<KeptObject> all;
  for (const OneObject& object : objects_in(directory)) {
    KeptObject kept = read_head(object.file);
    kept.kept = bytes_on_disk(object.status.st_blocks);
    kept.last_used = object.status.st_mtim.tv_sec;
    kept.in_use = !unused(object.file);
    all.push_back(std::move(kept));
  }
  return all;
}

std::uint64_t clear_cache(const fs::path& directory) {
  const Lock lock = open_lock_to_clear(directory);
  take(lock.file, lock.may_write, directory);
  const std::vector<OneObject> objects = objects_in(directory);
  std::uint64_t freed = 0;
  for (const OneObject& object : objects) freed += remove_unless_used(object);
  const std::uint64_t left = all_bytes(objects) - freed;
  if (::pwrite(lock.file.number(), &left, sizeof left, 0) != sizeof left) {
    fail_errno(directory / "lock", "cannot write", errno);
  }
  return freed;
}

}  // namespace feedrate::formats
