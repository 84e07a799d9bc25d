#include "formats/io/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <thread>

#include "formats/base/error.h"
#include "formats/base/stop.h"
#include "formats/io/late_bytes.h"
#include "formats/io/replace.h"

namespace feedrate::formats {
namespace {

namespace fs = std::filesystem;

// Large enough to make system calls cheap next to the copy, small enough to stay in L2.
constexpr std::size_t output_buffer = std::size_t{256} << 10;
// From this size on, copying bytes into the buffer costs more than a system call of their own.
constexpr std::size_t worth_a_call = std::size_t{32} << 10;

// Bytes of a growing file that are sent to disk at a time; larger steps are no faster.
constexpr std::uint64_t disk_step = std::uint64_t{8} << 20;

// Without O_NONBLOCK, opening a named pipe would wait instead of being refused.
constexpr int reading = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

std::string reason(int error_number) { return std::generic_category().message(error_number); }

void write_all(const Descriptor& file, const fs::path& path, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.number(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail_errno(path, "cannot write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Descriptor open_to_read(const fs::path& path) {
  Descriptor file(::open(path.c_str(), reading));
  if (!file) fail_errno(path, "cannot open", errno);
  return file;
}

std::size_t read_some(const Descriptor& file, const fs::path& path, std::uint64_t& position,
                      MutableBytes buffer) {
  ssize_t count = 0;
  do count = ::read(file.number(), buffer.data(), buffer.size());
  while (count < 0 && errno == EINTR);
  if (count < 0) fail_errno(path, join("cannot read at byte ", position), errno);
  position += static_cast<std::uint64_t>(count);
  return static_cast<std::size_t>(count);
}

Descriptor open_directory(const fs::path& path) {
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) fail_errno(path, "cannot open the directory", errno);
  return directory;
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

void send_to_disk(int descriptor, std::uint64_t from, std::uint64_t size) {
  // It fails for pipes and devices, which do not need it.
  ::sync_file_range(descriptor, static_cast<off_t>(from), static_cast<off_t>(size),
                    SYNC_FILE_RANGE_WRITE);
}

namespace {

// open() would wait for a named pipe's reader whatever happens.
Descriptor open_to_write(const fs::path& path) {
  constexpr int creating = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
  for (;;) {
    Descriptor file(::open(path.c_str(), creating | O_NONBLOCK, 0666));
    if (file) {
      fcntl(file.number(), F_SETFL, O_WRONLY);  // write() waits
      return file;
    }
    const int failure = errno;
    std::error_code ignored;
    if (failure != ENXIO || !fs::is_fifo(path, ignored)) fail_errno(path, "cannot create", failure);
    throw_if_stop_requested();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

OutputFile::OutputFile(const fs::path& path) : path_(path), file_(open_to_write(path)) {}

OutputFile::OutputFile(const fs::path& path, std::uint64_t size)
    : path_(path),
      file_(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)),  // of a pipe, it fails
      written_(size),
      on_its_way_(size) {
  if (!file_) fail_errno(path, "cannot go on writing", errno);
  struct stat status {};
  if (fstat(file_.number(), &status) != 0) fail_errno(path, "cannot look at", errno);
  if (static_cast<std::uint64_t>(status.st_size) < size) {
    fail(path, "cannot go on writing at byte ", size, ": the file has only ", status.st_size);
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
  if (written_ - on_its_way_ < disk_step) return;
  send_to_disk(file_.number(), on_its_way_, written_ - on_its_way_);
  on_its_way_ = written_;
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

namespace {

void each_late_block(const LateBytes& late, const std::function<void(Bytes)>& take) {
  HeldWindow window(late.map());
  for (std::size_t at = 0; at < late.map().size(); at += late_piece_bytes) {
    const std::size_t size = std::min(late.map().size() - at, late_piece_bytes);
    window.need(at, size);
    take(late.map().subspan(at, size));
  }
}

}  // namespace

Bytes read_file_at(const Descriptor& directory, const char* name, Buffer& storage) {
  // Called for every small image: building a path, which costs an allocation, waits until an error.
  const Descriptor file(::openat(directory.number(), name, reading));
  if (!file) throw Error(join("cannot open the file: ", reason(errno)));
  struct stat status {};
  if (fstat(file.number(), &status) != 0) {
    throw Error(join("cannot look at the file: ", reason(errno)));
  }
  if (!S_ISREG(status.st_mode)) throw Error("is not a regular file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (storage.size() < size) storage.resize(size);
  if (const auto late = late_bytes_of({status.st_dev, status.st_ino})) {
    auto to = storage.begin();
    each_late_block(*late, [&](Bytes block) { to = std::ranges::copy(block, to).out; });
    return Bytes(storage).first(size);
  }
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

void each_block(const fs::path& path, const std::function<void(Bytes)>& take) {
  const Descriptor file = open_to_read(path);
  struct stat status {};
  if (fstat(file.number(), &status) != 0) fail_errno(path, "cannot look at", errno);
  if (const auto late = late_bytes_of({status.st_dev, status.st_ino})) {
    try {
      return each_late_block(*late, take);
    } catch (const Error& error) {
      fail(path, error.what());
    }
  }
  Buffer buffer(output_buffer);
  std::uint64_t position = 0;
  while (const std::size_t count = read_some(file, path, position, buffer)) {
    take(Bytes(buffer).first(count));
  }
}

std::string read_text(const fs::path& path) {
  Buffer content;
  read_file(path, content);
  return std::string(as_text(content));
}

namespace {

// Opens or makes the file and waits while another process writes it: each would cut off what the
// other has written. Where there are no locks, goes on without.
Descriptor locked_file(const fs::path& path) {
  for (;;) {
    Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!file) fail_errno(path, "cannot create", errno);
    while (flock(file.number(), LOCK_EX) != 0 && errno == EINTR) continue;
    if (is_named(file, path)) return file;
  }
}

}  // namespace

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
  const Descriptor lock = locked_file(beside);
  OutputFile file(beside);
  try {
    write(file);
    file.close();
    const Descriptor written = open_to_read(beside);
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

}  // namespace feedrate::formats
