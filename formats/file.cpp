#include "formats/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "formats/error.h"
#include "formats/replace.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

// Large enough that a system call costs nothing against the copy, small enough to stay in L2.
constexpr std::size_t output_buffer = std::size_t{256} << 10;
// From here on copying bytes into the buffer costs more than a system call for them alone.
constexpr std::size_t worth_a_call = std::size_t{32} << 10;

// Without O_NONBLOCK a named pipe would be waited for instead of refused.
constexpr int reading = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

// Of one hint no more is followed than the system reads ahead by itself: 128 KiB where nobody has
// said otherwise.
constexpr std::size_t hint_bytes = std::size_t{128} << 10;

Descriptor open_for_reading(const fs::path& path) {
  Descriptor file(::open(path.c_str(), reading));
  if (!file) fail_errno(path, "cannot open", errno);
  return file;
}

FileState state_of(const struct stat& status) {
  return {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size),
          std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec};
}

// Of a regular file; anything else cannot be mapped or read whole.
FileState regular_state(const Descriptor& file, const fs::path& path) {
  struct stat status {};
  if (fstat(file.number(), &status) != 0) fail_errno(path, "cannot look at", errno);
  if (S_ISDIR(status.st_mode)) fail(path, "is a directory, expected a file");
  if (!S_ISREG(status.st_mode)) fail(path, "is not a regular file");
  return state_of(status);
}

std::string reason(int error_number) { return std::generic_category().message(error_number); }

void write_all(const Descriptor& file, const fs::path& path, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.number(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_errno(path, "cannot write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void sync_directory(const fs::path& path) {
  const Descriptor directory = open_directory(path);
  if (fsync(directory.number()) != 0) fail_errno(path, "cannot reach the disk", errno);
}

// The path without a trailing slash, so that ".partial" can be put behind its name.
fs::path without_slash(const fs::path& path) {
  if (path.empty()) throw Error("the name of the directory to make is empty");
  fs::path normal = fs::absolute(path).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

void rename_without_replacing(const fs::path& from, const fs::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return;
  // Some file systems cannot promise it; the existence was checked when the directory was made.
  if (errno == EINVAL && ::rename(from.c_str(), to.c_str()) == 0) return;
  const int failure = errno;
  fail_errno(to, join("cannot rename ", from.filename(), " to it"), failure);
}

// What the system makes of it changes no result.
void advise(Bytes map, int advice) {
  if (!map.empty()) ::madvise(const_cast<std::byte*>(map.data()), map.size(), advice);
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor open_directory(const fs::path& path) {
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) fail_errno(path, "cannot open the directory", errno);
  return directory;
}

MappedFile::MappedFile(const fs::path& path) : path_(path) {
  const Descriptor file = open_for_reading(path);
  state_ = regular_state(file, path);
  const auto size = static_cast<std::size_t>(state_.size);
  if (size == 0) return;
  void* at = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0);
  if (at == MAP_FAILED) fail_errno(path, "cannot map", errno);
  bytes_ = {static_cast<const std::byte*>(at), size};
  guard_ = MapGuard(bytes_, path);
}

MappedFile::~MappedFile() {
  guard_ = MapGuard();  // before the addresses become somebody else's
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::expect_unchanged() const {
  struct stat status {};
  if (path_.empty() || stat(path_.c_str(), &status) != 0) return;  // removed: the map has it still
  const FileState now = state_of(status);
  if (now.device != state_.device || now.inode != state_.inode) return;
  if (now.size != state_.size) {
    fail(path_, "was changed while it was being read: it had ", state_.size, " bytes and has ",
         now.size);
  }
  if (now.modified_ns != state_.modified_ns) fail(path_, "was written to while it was being read");
}

void MappedFile::expect_reading_in_order() const { advise(bytes_, MADV_SEQUENTIAL); }
void MappedFile::expect_single_pages() const { advise(bytes_, MADV_RANDOM); }
void MappedFile::expect_any_reading() const { advise(bytes_, MADV_NORMAL); }

void MappedFile::give_back(Bytes part) const {
  if (part.empty()) return;
  assert(part.data() >= bytes_.data());
  assert(part.data() + part.size() <= bytes_.data() + bytes_.size());
  // A touch brings in the pages around it as well, in aligned pieces of this size: it all goes.
  constexpr std::uintptr_t around = std::uintptr_t{64} << 10;
  const auto map = reinterpret_cast<std::uintptr_t>(bytes_.data());
  const auto first = reinterpret_cast<std::uintptr_t>(part.data()) / around * around;
  const auto last =
      (reinterpret_cast<std::uintptr_t>(part.data()) + part.size() + around - 1) / around * around;
  const std::uintptr_t begin = std::max(first, map);
  const std::uintptr_t end = std::min(last, map + bytes_.size());
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      bytes_(std::exchange(other.bytes_, {})),
      guard_(std::move(other.guard_)),
      state_(other.state_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  std::swap(guard_, other.guard_);
  std::swap(state_, other.state_);
  return *this;
}

void prefetch(Bytes bytes) {
  constexpr std::uintptr_t page = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data()) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(bytes.data() + bytes.size());
  // A hint: what cannot be followed does no harm.
  for (std::uintptr_t at = begin; at < end; at += hint_bytes) {
    madvise(reinterpret_cast<void*>(at), std::min(hint_bytes, end - at), MADV_WILLNEED);
  }
}

void prefetch_file_at(const Descriptor& directory, const char* name) {
  const Descriptor file(::openat(directory.number(), name, reading));
  struct stat status {};
  if (!file || fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  constexpr auto step = static_cast<off_t>(hint_bytes);
  for (off_t at = 0; at < status.st_size; at += step) {
    posix_fadvise(file.number(), at, std::min(step, status.st_size - at), POSIX_FADV_WILLNEED);
  }
}

OutputFile::OutputFile(const fs::path& path)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (!file_) fail_errno(path, "cannot create", errno);
}

OutputFile::OutputFile(const fs::path& path, std::uint64_t size)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CLOEXEC)), written_(size) {
  if (!file_) fail_errno(path, "cannot go on writing", errno);
  struct stat status {};
  if (fstat(file_.number(), &status) != 0) fail_errno(path, "cannot look at", errno);
  if (static_cast<std::uint64_t>(status.st_size) < size) {
    fail(path, "cannot go on writing at byte ", size, ": it has ", status.st_size);
  }
  if (ftruncate(file_.number(), static_cast<off_t>(size)) != 0 ||
      lseek(file_.number(), 0, SEEK_END) < 0) {
    fail_errno(path, "cannot go on writing", errno);
  }
}

OutputFile::~OutputFile() = default;

void OutputFile::write(Bytes bytes) {
  if (buffer_.size() + bytes.size() > output_buffer || bytes.size() >= worth_a_call) flush();
  if (bytes.size() >= worth_a_call) {
    hand_over(bytes);
  } else {
    append(buffer_, bytes);
  }
}

void OutputFile::flush() {
  hand_over(buffer_);
  buffer_.clear();
}

void OutputFile::hand_over(Bytes bytes) {
  write_all(file_, path_, bytes);
  written_ += bytes.size();
}

void OutputFile::close() {
  flush();
  // Network file systems report a full disk only here, so the descriptor is closed by hand.
  if (::close(file_.release()) != 0) fail_errno(path_, "cannot finish writing", errno);
}

void read_file(const fs::path& path, Buffer& content) {
  const Descriptor here(AT_FDCWD);  // a negative number, so never closed
  try {
    content.resize(read_file_at(here, path.c_str(), content).size());
  } catch (const Error& error) {
    fail(path, error.what());
  }
}

Bytes read_file_at(const Descriptor& directory, const char* name, Buffer& storage) {
  // Called for every small image: no path, which would cost an allocation, before something fails.
  const Descriptor file(::openat(directory.number(), name, reading));
  if (!file) throw Error(join("cannot open the file: ", reason(errno)));
  struct stat status {};
  if (fstat(file.number(), &status) != 0) {
    throw Error(join("cannot look at the file: ", reason(errno)));
  }
  if (!S_ISREG(status.st_mode)) throw Error("is not a regular file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (storage.size() < size) storage.resize(size);
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t got = ::read(file.number(), storage.data() + filled, size - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(join("cannot read the file: ", reason(errno)));
    if (got == 0) throw Error(join("the file ended at byte ", filled, " of ", size));
    filled += static_cast<std::size_t>(got);
  }
  return Bytes(storage).first(size);
}

std::string read_text(const fs::path& path) {
  Buffer content;
  read_file(path, content);
  return std::string(as_text(content));
}

void replace_file(const fs::path& path, const std::function<void(OutputFile& file)>& write) {
  if (is_device(path)) {
    OutputFile device(path);
    write(device);
    device.close();
    return;
  }
  const fs::path target = replaceable(path);
  fs::path beside = target;
  beside += ".new";
  OutputFile file(beside);
  try {
    write(file);
    file.close();
    const Descriptor written = open_for_reading(beside);
    if (fsync(written.number()) != 0) fail_errno(beside, "cannot reach the disk", errno);
    if (std::rename(beside.c_str(), target.c_str()) != 0) fail_errno(path, "cannot replace", errno);
  } catch (...) {
    ::unlink(beside.c_str());
    throw;
  }
}

void write_text(const fs::path& path, std::string_view text) {
  replace_file(path, [&](OutputFile& file) { file.write(text); });
}

PartialDirectory::PartialDirectory(const fs::path& path, Stale stale)
    : final_(without_slash(path)) {
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
    lock();  // either what a killed run left, or what another process fills at this moment
    adopted_ = kept_ = stale == Stale::adopted;
    if (adopted_) return;
    fs::remove_all(partial_, error);
    if (error) fail_errno(partial_, "cannot remove what an earlier run left", error.value());
  }
  if (mkdir(partial_.c_str(), 0777) != 0) {
    const int failure = errno;
    fail_errno(final_.parent_path(), join("cannot make ", partial_.filename(), " in it"), failure);
  }
  lock();
}

// Between opening and locking, another process may have put its own directory in the place of a
// stale one: the lock counts only while the name still means what was locked.
void PartialDirectory::lock() {
  lock_ = open_directory(partial_);
  const bool locked = flock(lock_.number(), LOCK_EX | LOCK_NB) == 0;
  struct stat held {
  }, named{};
  const bool same = fstat(lock_.number(), &held) == 0 && stat(partial_.c_str(), &named) == 0 &&
                    held.st_dev == named.st_dev && held.st_ino == named.st_ino;
  if (!locked || !same) fail(partial_, "another process is writing it");
}

void PartialDirectory::remove_parents() noexcept {
  // rmdir refuses a directory that someone has put something into, which is what we want.
  for (auto at = made_parents_.rbegin(); at != made_parents_.rend(); ++at) rmdir(at->c_str());
}

PartialDirectory::~PartialDirectory() {
  if (committed_ || kept_) return;
  std::error_code ignored;
  fs::remove_all(partial_, ignored);
  remove_parents();
}

void PartialDirectory::sync() {
  // One call for the whole file system is far quicker than fsync of 60,000 small PNG files.
  if (syncfs(lock_.number()) != 0) fail_errno(partial_, "cannot reach the disk", errno);
  if (fsync(lock_.number()) != 0) fail_errno(partial_, "cannot reach the disk", errno);
}

void PartialDirectory::commit() {
  sync();
  rename_without_replacing(partial_, final_);
  committed_ = true;
  sync_directory(final_.parent_path());
}

}  // namespace feedrate
