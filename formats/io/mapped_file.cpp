#include "formats/io/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <mutex>
#include <utility>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/error.h"
#include "formats/base/pages.h"
#include "formats/io/file.h"
#include "formats/io/lfs_pointer.h"

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

// More is not kept of files that are read from a server as a whole, by readers that know nothing of parts.
constexpr std::uint64_t max_held = std::uint64_t{1} << 30;
std::atomic<std::uint64_t> bytes_held{0};

}  // namespace

struct MappedFile::Late {
  explicit Late(std::shared_ptr<LateBytes> of) : bytes(std::move(of)) {}
  ~Late() { bytes_held.fetch_sub(counted); }

  std::shared_ptr<LateBytes> bytes;
  std::once_flag once;
  std::vector<Held> all;
  std::uint64_t counted = 0;
};

MappedFile::MappedFile() = default;

MappedFile::MappedFile(const fs::path& path) : path_(path) {
  const Descriptor file = open_to_read(path);
  state_ = regular_state(file, path);
  if (auto late = late_bytes_of({state_.device, state_.inode})) {
    bytes_ = late->map();
    late_ = std::make_unique<Late>(std::move(late));
    return;
  }
  const auto size = static_cast<std::size_t>(state_.size);
  if (size == 0) return;
  void* at = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0);
  if (at == MAP_FAILED) fail_errno(path, "cannot map", errno);
  bytes_ = {static_cast<const std::byte*>(at), size};
  guard_ = MapGuard(bytes_, path);
  refuse_lfs_pointer(path, bytes_);
}

MappedFile::~MappedFile() {
  guard_ = MapGuard();  // before the addresses can be reused
  if (!bytes_.empty() && late_ == nullptr)
    munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::hold_all() const {
  std::call_once(late_->once, [&] {
    const std::uint64_t size = bytes_.size();
    if (bytes_held.fetch_add(size) + size > max_held) {
      bytes_held.fetch_sub(size);
      fail(path_, "has ", size, " bytes, all of which are needed at once, but at most ",
           max_held >> 30, " GiB of a dataset are kept from a server; copy it here first");
    }
    const auto each_piece = [&](const auto& take) {
      for (Bytes rest = bytes_; !rest.empty();) {
        const Bytes piece = rest.first(std::min<std::size_t>(rest.size(), late_piece_bytes));
        take(piece);
        rest = rest.subspan(piece.size());
      }
    };
    try {
      std::vector<Held> all;
      each_piece([&](Bytes piece) { late_->bytes->ask(piece); });
      each_piece([&](Bytes piece) { all.push_back(hold(piece)); });
      late_->all = std::move(all);
      late_->counted = size;
    } catch (const Error& error) {
      bytes_held.fetch_sub(size);
      fail(path_, error.what());
    } catch (...) {
      bytes_held.fetch_sub(size);
      throw;
    }
  });
}

void MappedFile::expect_unchanged() const {
  if (late_ != nullptr) return;  // every part that comes is checked to be of one version
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

void MappedFile::expect_reading_in_order() const {
  if (late_ == nullptr) advise(bytes_, MADV_SEQUENTIAL);
}

void MappedFile::give_back(Bytes part) const {
  if (part.empty() || late_ != nullptr) return;
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
      late_(std::move(other.late_)),
      state_(other.state_),
      looked_ahead_(other.looked_ahead_.load(std::memory_order_relaxed)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  std::swap(guard_, other.guard_);
  std::swap(late_, other.late_);
  std::swap(state_, other.state_);
  looked_ahead_.store(other.looked_ahead_.exchange(looked_ahead_.load(std::memory_order_relaxed)));
  return *this;
}

void MappedFile::look_ahead(Bytes part) const {
  if (late_ != nullptr) return late_->bytes->ask(part);
  if (!looked_ahead_.exchange(true, std::memory_order_relaxed)) advise(bytes_, MADV_RANDOM);
  prefetch(part);
}

SinglePages::SinglePages(Bytes map) : map_(late_bytes_at(map) == nullptr ? map : Bytes()) {
  advise(map_, MADV_RANDOM);
}
SinglePages::~SinglePages() { advise(map_, MADV_NORMAL); }

void prefetch(Bytes bytes) {
  if (const auto late = late_bytes_at(bytes)) return late->ask(bytes);
  for (Bytes rest = from_page_begin(bytes); !rest.empty();) {
    const Bytes part = rest.first(std::min(hint_bytes, rest.size()));
    advise(part, MADV_WILLNEED);
    rest = rest.subspan(part.size());
  }
}

}  // namespace feedrate::formats
