#pragma once
// Files owned at birth: descriptors, files read whole, and files that are written.
// Every failure is an Error that names the file and the system's reason.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// A file descriptor, closed when its owner goes.
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

/// Opens a file to be read. What waits to be read from, as a named pipe does, is not waited for.
Descriptor open_to_read(const std::filesystem::path& path);

/// As many of the bytes that follow as there are at once, at most all of `buffer`; 0 at the end.
/// `position` is where they are: for errors, and moved on.
std::size_t read_some(const Descriptor& file, const std::filesystem::path& path,
                      std::uint64_t& position, MutableBytes buffer);

/// Opens a directory, to name files relative to it.
Descriptor open_directory(const std::filesystem::path& path);

/// Of one hint to the system no more is followed than it reads ahead by itself: 128 KiB where
/// nobody has said otherwise.
inline constexpr std::size_t hint_bytes = std::size_t{128} << 10;

/// Asks the system to have the whole file `name`, seen from the open directory, in memory soon.
/// That waits for the file's own entry on disk.
void prefetch_file_at(const Descriptor& directory, const char* name);

/// Asks the system to begin to bring `size` written bytes of a file to disk (0: all that follow),
/// so that whoever waits for the disk in the end waits for less. Nothing is waited for here.
void send_to_disk(int descriptor, std::uint64_t from = 0, std::uint64_t size = 0);

/// A file being written, buffered. One thread. close() reports what the disk refused. While it
/// grows it is sent to disk piece by piece.
class OutputFile {
 public:
  /// Made new, or emptied.
  explicit OutputFile(const std::filesystem::path& path);
  /// Goes on behind the first `size` bytes of a file that is there; what follows them is cut off.
  OutputFile(const std::filesystem::path& path, std::uint64_t size);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(Bytes bytes);
  void write(std::string_view text) { write(as_bytes(text)); }
  const std::filesystem::path& path() const { return path_; }
  std::uint64_t position() const { return written_ + buffer_.size(); }
  /// Hands what is buffered to the system.
  void flush();
  void close();

 private:
  void hand_over(Bytes bytes);

  std::filesystem::path path_;
  Descriptor file_;
  Buffer buffer_;
  std::uint64_t written_ = 0;
  std::uint64_t on_its_way_ = 0;  // to disk, of what is written
};

/// The whole file into `content`, which keeps its capacity from call to call.
void read_file(const std::filesystem::path& path, Buffer& content);
/// The whole file `name`, seen from the open directory, into `storage`, which only ever grows. The
/// result is valid until `storage` is used again. Errors do not name the file: the caller knows it.
Bytes read_file_at(const Descriptor& directory, const char* name, Buffer& storage);
std::string read_text(const std::filesystem::path& path);
/// Gives `write` a file beside `path`, brings it to disk and renames it over `path`: readers see
/// the old file or the new one, whole. When something fails the old one stays and nothing is left
/// beside it.
void replace_file(const std::filesystem::path& path,
                  const std::function<void(OutputFile& file)>& write);
/// replace_file with this text.
void write_text(const std::filesystem::path& path, std::string_view text);

}  // namespace feedrate::formats
