#include "formats/io/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include "formats/base/bytes.h"
#include "formats/base/error.h"
#include "formats/base/pages.h"
#include "formats/io/file.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

FileState state_of(const struct stat& status) {
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
          std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

// The state of a regular file. Throws Error for anything else, which cannot be mapped.
FileState regular_state(const Descriptor& file, const fs::path& path) {
  struct stat status {};
  if (fstat(file.number(), &status) != 0) fail_errno(path, "cannot look at", errno);
  if (S_ISDIR(status.st_mode)) fail(path, "is a directory, expected a file");
  if (!S_ISREG(status.st_mode)) fail(path, "is not a regular file");
  return state_of(status);
}

// Only a hint: failure changes no result.
void advise(Bytes map, int advice) {
  if (!map.empty()) ::madvise(const_cast<std::byte*>(map.data()), map.size(), advice);
}

}  // namespace

MappedFile::MappedFile(const fs::path& path) : path_(path) {
  const Descriptor file = open_to_read(path);
  state_ = regular_state(file, path);
  const auto size = static_cast<std::size_t>(state_.size);
  if (size == 0) return;
  void* at = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0);
  if (at == MAP_FAILED) fail_errno(path, "cannot map", errno);
  bytes_ = {static_cast<const std::byte*>(at), size};
  guard_ = MapGuard(bytes_, path);
}

MappedFile::~MappedFile() {
  guard_ = MapGuard();  // before the addresses can be reused
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::expect_unchanged() const {
  if (const std::string lost = guard_.lost_pages(); !lost.empty()) throw Error(lost);
  struct stat status {};
  if (path_.empty() || stat(path_.c_str(), &status) != 0) return;  // removed: the map still has it
  const FileState now = state_of(status);
  if (now.device != state_.device || now.inode != state_.inode) return;
  if (now.size != state_.size) {
    fail(path_, now.size < state_.size ? "became shorter" : "was changed",
         " while it was being read: it had ", state_.size, " bytes and has ", now.size);
  }
  if (now.modified_ns != state_.modified_ns) fail(path_, "was written to while it was being read");
}

void MappedFile::expect_reading_in_order() const { advise(bytes_, MADV_SEQUENTIAL); }

void MappedFile::give_back(Bytes part) const {
  if (part.empty()) return;
  assert(part.data() >= bytes_.data());
  assert(part.data() + part.size() <= bytes_.data() + bytes_.size());
  // A page fault maps the pages around it too, in aligned blocks of this size: give back all of it.
  constexpr std::uintptr_t around = std::uintptr_t{64} << 10;
  const auto map = reinterpret_cast<std::uintptr_t>(bytes_.data());
  const auto first = reinterpret_cast<std::uintptr_t>(part.data()) / around * around;
  const auto last = round_up(reinterpret_cast<std::uintptr_t>(part.data()) + part.size(), around);
  const std::uintptr_t begin = std::max(first, map);
  const std::uintptr_t end = std::min(last, map + bytes_.size());
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      bytes_(std::exchange(other.bytes_, {})),
      guard_(std::move(other.guard_)),
      state_(other.state_),
      looked_ahead_(other.looked_ahead_.load(std::memory_order_relaxed)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  std::swap(guard_, other.guard_);
  std::swap(state_, other.state_);
  looked_ahead_.store(other.looked_ahead_.exchange(looked_ahead_.load(std::memory_order_relaxed)));
  return *this;
}

void MappedFile::look_ahead(Bytes part) const {
  if (!looked_ahead_.exchange(true, std::memory_order_relaxed)) advise(bytes_, MADV_RANDOM);
  prefetch(part);
}

SinglePages::SinglePages(Bytes map) : map_(map) { advise(map_, MADV_RANDOM); }
SinglePages::~SinglePages() { advise(map_, MADV_NORMAL); }

void prefetch(Bytes bytes) {
  for (Bytes rest = from_page_begin(bytes); !rest.empty();) {
    const Bytes part = rest.first(std::min(hint_bytes, rest.size()));
    advise(part, MADV_WILLNEED);
    rest = rest.subspan(part.size());
  }
}

}  // namespace feedrate::formats
