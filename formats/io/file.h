#pragma once
// Files owned from birth: descriptors, files read whole, and files being written. Every failure is
// an Error that names the file and the system's reason.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// A file descriptor, closed by its owner.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

/// Opens a file for reading. Does not wait for writers of a named pipe.
Descriptor open_to_read(const std::filesystem::path& path);

/// Reads as many bytes as are available at once, up to the size of `buffer`; returns 0 at the end.
/// `position` is the current offset, for errors; it is advanced.
std::size_t read_some(const Descriptor& file, const std::filesystem::path& path,
                      std::uint64_t& position, MutableBytes buffer);

/// Opens a directory, so that files can be named relative to it.
Descriptor open_directory(const std::filesystem::path& path);

/// Largest range worth passing in one hint: the system follows a hint only up to its read-ahead,
/// 128 KiB by default.
inline constexpr std::size_t hint_bytes = std::size_t{128} << 10;

/// Asks the system to load the whole file `name`, relative to the open directory. Waits for the
/// disk only to look up the file.
void prefetch_file_at(const Descriptor& directory, const char* name);

/// Asks the system to start writing `size` bytes of a file from `from` on to disk (0: all that
/// follow), so that a later fsync has less to wait for. Does not wait.
void send_to_disk(int descriptor, std::uint64_t from = 0, std::uint64_t size = 0);

/// A file being written, buffered. One thread. It is sent to disk step by step while it grows;
/// close() reports what the disk refused.
class OutputFile {
 public:
  /// Creates the file, or empties it. Waits for a named pipe's reader until a stop is requested (then
  /// throws Stopped).
  explicit OutputFile(const std::filesystem::path& path);
  /// Continues an existing file after its first `size` bytes; what follows them is cut off.
  OutputFile(const std::filesystem::path& path, std::uint64_t size);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(Bytes bytes);
  void write(std::string_view text) { write(as_bytes(text)); }
  const std::filesystem::path& path() const { return path_; }
  std::uint64_t position() const { return written_ + buffer_.size(); }
  /// Hands buffered bytes to the system.
  void flush();
  void close();

 private:
  void hand_over(Bytes bytes);

  std::filesystem::path path_;
  Descriptor file_;
  Buffer buffer_;
  std::uint64_t written_ = 0;
  std::uint64_t on_its_way_ = 0;  // of the bytes written, those sent to disk
};

/// Reads the whole file into `content`, which keeps its capacity from call to call.
void read_file(const std::filesystem::path& path, Buffer& content);
/// Reads the whole file `name`, relative to the open directory, into `storage`, which only grows.
/// The result is valid until `storage` is used again. Errors do not name the file, which the caller
/// knows.
Bytes read_file_at(const Descriptor& directory, const char* name, Buffer& storage);
std::string read_text(const std::filesystem::path& path);
/// Calls `take` for one block of the file after the other. They are read, not mapped: copying into the
/// processor's cache costs half as much as a map's page faults.
void each_block(const std::filesystem::path& path, const std::function<void(Bytes block)>& take);
/// Lets `write` fill a file beside `path`, syncs it to disk and renames it to `path`: readers see
/// the old file or the new one, whole. On failure the old file stays and nothing else is left.
void replace_file(const std::filesystem::path& path,
                  const std::function<void(OutputFile& file)>& write);
/// replace_file with this text.
void write_text(const std::filesystem::path& path, std::string_view text);

}  // namespace feedrate::formats
