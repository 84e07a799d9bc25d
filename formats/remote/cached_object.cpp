#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "formats/base/error.h"
#include "formats/base/text.h"
#include "formats/digests/digest.h"
#include "formats/digests/fingerprint.h"
#include "formats/remote/cache_file.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t hash_digits = 32;

bool read_all(int file, std::uint64_t at, void* into, std::uint64_t size) {
  for (std::uint64_t have = 0; have < size;) {
    const ssize_t count = ::pread(file, static_cast<std::byte*>(into) + have, size - have,
                                  static_cast<off_t>(at + have));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    have += static_cast<std::uint64_t>(count);
  }
  return true;
}

// The error of the system, or 0.
int write_all(int file, std::uint64_t at, const void* from, std::uint64_t size) {
  for (std::uint64_t done = 0; done < size;) {
    const ssize_t count = ::pwrite(file, static_cast<const std::byte*>(from) + done, size - done,
                                   static_cast<off_t>(at + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0 ? errno : EIO;
    done += static_cast<std::uint64_t>(count);
  }
  return 0;
}

std::int64_t size_on_disk(int file, const fs::path& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0) fail_errno(path, "cannot look at", errno);
  return static_cast<std::int64_t>(bytes_on_disk(status.st_blocks));
}

// A file stays open for each object, and connections need numbers, too: so half of what the process may open is
// left, where the system allows it to raise its limit.
void leave_files_to_open(int number) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  if (static_cast<rlim_t>(number) < limit.rlim_cur / 2 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

std::string cannot_open(int problem) {
  std::string text = "cannot open a file of the cache";
  rlimit limit{};
  if (problem == EMFILE && ::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    text += join(", which needs one for each object ('ulimit -Hn' says ", limit.rlim_max, ")");
  }
  return text;
}

}  // namespace

bool forbids_writing(int problem) {
  return problem == EROFS || problem == EACCES || problem == EPERM || problem == ENOSPC ||
         problem == EDQUOT;
}

KeptObject read_head(const fs::path& file) {
  KeptObject kept;
  kept.file = file;
  const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::string head(head_bytes, '\0');
  if (!opened || !read_all(opened.number(), 0, head.data(), head.size())) return kept;
  std::istringstream lines(head.substr(0, head.find('\0')));
  std::string words, url, version, size;
  std::getline(lines, words);
  std::getline(lines, url);
  std::getline(lines, version);
  std::getline(lines, size);
  if (words != head_words) return kept;
  kept.url = url;
  kept.version = version;
  kept.size = parse_number<std::uint64_t>(size).value_or(0);
  return kept;
}

CachedObject::CachedObject(std::shared_ptr<CacheDirectory> directory, std::string url,
                           ObjectVersion version)
    : directory_(std::move(directory)), size_(version.size) {
  head_ = join(head_words, "\n", url, "\n", version.text(), "\n", size_, "\n");
  if (version.condition().empty()) {
    fail(url, "cannot be kept in a cache: the server states no version (ETag or Last-Modified)");
  }
  if (head_.size() >= head_bytes) fail(url, "is too long a URL for a cache");
  const Sha256 hash = sha256(as_bytes(head_));
  file_ = directory_->path() / hex(hash).substr(0, hash_digits).append(object_extension);
  const std::uint64_t blocks = (size_ + block_bytes - 1) / block_bytes;
  known_.resize(blocks);
  damaged_.resize(blocks);
  verified_.resize(blocks);
  open_file();
}

// Files are removed by whoever has the lock, so this one stays once it is locked, too.
void CachedObject::open_file() {
  CacheDirectory::Locked locked(*directory_);
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!locked.may_write() || !open_to_write()) return open_to_read();
    const std::int64_t before = size_on_disk(descriptor_.number(), file_);
    const int problem = begin_file();
    locked.add(size_on_disk(descriptor_.number(), file_) - before);
    if (problem == 0 && is_ours()) return;
    ::unlink(file_.c_str());  // a file without a head, or something else
    locked.recount();
    if (problem != 0) {
      directory_->stop_growing(problem);
      return open_to_read();
    }
  }
  fail(file_, "cannot make a file of the cache: another one is there");
}

// False where the system lets nobody like us write.
bool CachedObject::open_to_write() {
  descriptor_ = Descriptor(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!descriptor_) {
    const int problem = errno;
    if (forbids_writing(problem)) return false;
    fail_errno(file_, cannot_open(problem), problem);
  }
  leave_files_to_open(descriptor_.number());
  if (::flock(descriptor_.number(), LOCK_SH) != 0) fail_errno(file_, "cannot lock", errno);
  return true;
}

// What is not there, or is something else, cannot be made anew: it is fetched each time.
void CachedObject::open_to_read() {
  may_write_ = false;
  descriptor_ = Descriptor(::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!descriptor_) {
    const int problem = errno;
    if (problem == ENOENT || problem == EACCES) return;
    fail_errno(file_, cannot_open(problem), problem);
  }
  leave_files_to_open(descriptor_.number());
  if (::flock(descriptor_.number(), LOCK_SH) != 0) fail_errno(file_, "cannot lock", errno);
  if (!is_ours()) descriptor_ = {};
}

// Writes the head of a new file. The error of the system, or 0.
int CachedObject::begin_file() {
  struct stat status {};
  if (::fstat(descriptor_.number(), &status) != 0) fail_errno(file_, "cannot look at", errno);
  if (status.st_size == 0) {
    const std::uint64_t end = place_of_sums(known_.size());
    if (::ftruncate(descriptor_.number(), static_cast<off_t>(end)) != 0) {
      return errno;
    }
    if (const int problem = write_all(descriptor_.number(), 0, head_.data(), head_.size())) {
      return problem;
    }
  }
  ::futimens(descriptor_.number(), nullptr);  // used now
  return 0;
}

bool CachedObject::is_ours() const {
  struct stat status {};
  if (::fstat(descriptor_.number(), &status) != 0) fail_errno(file_, "cannot look at", errno);
  std::string head(head_.size() + 1, '\0');
  return static_cast<std::uint64_t>(status.st_size) == place_of_sums(known_.size()) &&
         read_all(descriptor_.number(), 0, head.data(), head.size()) && head == head_ + '\0';
}

ByteRange CachedObject::block(std::uint64_t number) const {
  const std::uint64_t begin = number * block_bytes;
  return {begin, std::min(block_bytes, size_ - begin)};
}

std::uint64_t CachedObject::place_of_sums(std::uint64_t block) const {
  return head_bytes + known_.size() * block_bytes + block * sizeof(Sums);
}

CachedObject::Sums CachedObject::sums_of(std::uint64_t block, Bytes bytes) const {
  Sums sums;
  for (std::size_t i = 0; i * part_bytes < bytes.size(); ++i) {
    const Bytes part = bytes.subspan(i * part_bytes);
    sums.part[i] = fingerprint(part.first(std::min<std::size_t>(part.size(), part_bytes)), i);
  }
  sums.check = fingerprint(std::as_bytes(std::span(sums.part)), block + 1);
  return sums;
}

// Whether there are sums, and they are those that were written.
bool CachedObject::read_sums(std::uint64_t block, Sums& sums) const {
  return read_all(descriptor_.number(), place_of_sums(block), &sums, sizeof sums) &&
         sums.check == fingerprint(std::as_bytes(std::span(sums.part)), block + 1);
}

bool CachedObject::has(std::uint64_t block) {
  const std::lock_guard lock(mutex_);
  if (known_[block]) return true;
  if (!descriptor_ || damaged_[block]) return false;
  Sums sums;
  known_[block] = read_sums(block, sums);
  return known_[block];
}

bool CachedObject::keep(std::uint64_t block, Bytes bytes) {
  if (!may_write_) return false;
  CacheDirectory::Locked locked(*directory_);
  if (has(block)) return true;                                     // another process was faster
  constexpr std::uint64_t beside = std::uint64_t{2} * head_bytes;  // pages of sums
  if (!locked.make_room(bytes.size() + beside)) return false;
  const int file = descriptor_.number();
  const Sums sums = sums_of(block, bytes);
  const std::int64_t before = size_on_disk(file, file_);
  int problem = write_all(file, head_bytes + this->block(block).offset, bytes.data(), bytes.size());
  if (problem == 0) problem = write_all(file, place_of_sums(block), &sums, sizeof sums);
  locked.add(size_on_disk(file, file_) - before);
  if (problem != 0) {
    directory_->stop_growing(problem);
    return false;
  }
  const std::lock_guard lock(mutex_);
  known_[block] = true;
  return true;
}

void CachedObject::forget(std::uint64_t block) {
  bool forgotten = false;
  if (may_write_) {
    CacheDirectory::Locked locked(*directory_);
    const Sums none;
    forgotten = write_all(descriptor_.number(), place_of_sums(block), &none, sizeof none) == 0;
  }
  const std::lock_guard lock(mutex_);
  known_[block] = false;
  damaged_[block] = !forgotten;
  verified_[block] = 0;
}

bool CachedObject::read(ByteRange range, std::byte* into) {
  while (range.size != 0) {
    const std::uint64_t number = range.offset / block_bytes;
    const ByteRange piece{range.offset, std::min(range.size, block(number).end() - range.offset)};
    if (!read_parts(number, piece, into)) {
      forget(number);
      return false;
    }
    into += piece.size;
    range = {piece.end(), range.size - piece.size};
  }
  return true;
}

// What this process has checked it reads at once; a part that it has not is read whole.
bool CachedObject::read_parts(std::uint64_t block, ByteRange range, std::byte* into) {
  const ByteRange all = this->block(block);
  const std::uint64_t first = (range.offset - all.offset) / part_bytes;
  const std::uint64_t last = (range.end() - 1 - all.offset) / part_bytes;
  const auto bits = static_cast<std::uint16_t>(((2U << last) - 1) & ~((1U << first) - 1));
  {
    const std::lock_guard lock(mutex_);
    if ((verified_[block] & bits) == bits) {
      return read_all(descriptor_.number(), head_bytes + range.offset, into, range.size);
    }
  }
  Sums sums;
  if (!read_sums(block, sums)) return false;
  const std::uint64_t begin = all.offset + first * part_bytes;
  const std::uint64_t end = std::min(all.offset + (last + 1) * part_bytes, all.end());
  thread_local Buffer parts_read;
  parts_read.resize(end - begin);
  if (!read_all(descriptor_.number(), head_bytes + begin, parts_read.data(), end - begin)) {
    return false;
  }
  for (std::uint64_t i = first; i <= last; ++i) {
    const Bytes rest = Bytes(parts_read).subspan((i - first) * part_bytes);
    const Bytes part = rest.first(std::min<std::size_t>(rest.size(), part_bytes));
    if (fingerprint(part, i) != sums.part[i]) return false;
  }
  std::memcpy(into, parts_read.data() + (range.offset - begin), range.size);
  const std::lock_guard lock(mutex_);
  verified_[block] = static_cast<std::uint16_t>(verified_[block] | bits);
  return true;
}

void CachedObject::read_ahead(ByteRange range) const {
  ::posix_fadvise(descriptor_.number(), static_cast<off_t>(head_bytes + range.offset),
                  static_cast<off_t>(range.size), POSIX_FADV_WILLNEED);
}

}  // namespace feedrate::formats
