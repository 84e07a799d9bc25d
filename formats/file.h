#pragma once
// Files owned at birth: descriptors, read-only maps, and directories that appear only when whole.
// Every failure is an Error that names the file and the system's reason.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/bytes.h"
#include "formats/lost_pages.h"

namespace feedrate {

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

/// Opens a directory, to name files relative to it.
Descriptor open_directory(const std::filesystem::path& path);

/// What tells a file from one that was written to since.
struct FileState {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
};

/// A whole file mapped read-only. Any thread may read; moves, never copies. An empty file is an
/// empty span. Where the file shrinks later its bytes read as zeros: see lost_pages.h.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  Bytes bytes() const { return bytes_; }
  const std::filesystem::path& path() const { return path_; }

  /// Throws Error when the file has been written to or cut off since it was mapped. A file that was
  /// put in its place is another one: the map still shows the old.
  void expect_unchanged() const;

  /// Tells the system that the file will be read from front to back.
  void expect_reading_in_order() const;
  /// Tells the system that single pages will be read, far apart: without their surroundings. And
  /// that this is over.
  void expect_single_pages() const;
  void expect_any_reading() const;
  /// Gives back the memory of the pages that hold `part` of bytes(). Touched again they come again,
  /// the same, from the file: a file larger than memory can be read without filling it.
  void give_back(Bytes part) const;

 private:
  std::filesystem::path path_;
  Bytes bytes_;
  MapGuard guard_;
  FileState state_;
};

/// Asks the system to have these bytes of a map in memory soon; of other memory it asks nothing.
void prefetch(Bytes bytes);

/// The same of the whole file `name`, seen from the open directory. That waits for the file's own
/// entry on disk.
void prefetch_file_at(const Descriptor& directory, const char* name);

/// A file being written, buffered. One thread. close() reports what the disk refused.
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

/// A directory made as `<path>.partial` and renamed to `path` by commit(), after everything in it
/// is on disk. Destroyed without commit it removes the partial directory; killed, it leaves only
/// that. One that a running process still writes is refused. Missing parents are made, and removed
/// again when all fails.
class PartialDirectory {
 public:
  /// What becomes of the partial directory of an earlier run.
  enum class Stale : std::uint8_t { removed, adopted };
  /// Throws Error when `path` exists already or its parent cannot be written.
  explicit PartialDirectory(const std::filesystem::path& path, Stale stale = Stale::removed);
  ~PartialDirectory();
  PartialDirectory(const PartialDirectory&) = delete;
  PartialDirectory& operator=(const PartialDirectory&) = delete;

  const std::filesystem::path& path() const { return partial_; }
  /// True when a directory of an earlier run was there and has been adopted.
  bool adopted() const { return adopted_; }
  /// Brings everything written so far to disk.
  void sync();
  /// From now on the directory stays when its owner goes without commit: there is something in it
  /// that a later run can go on from.
  void keep() { kept_ = true; }
  void commit();

 private:
  void make_parents();
  void make_partial(Stale stale);
  void lock();
  void remove_parents() noexcept;

  std::filesystem::path final_;
  std::filesystem::path partial_;
  std::vector<std::filesystem::path> made_parents_;  // outermost first
  Descriptor lock_;                                  // of partial_, held while we write
  bool adopted_ = false;
  bool kept_ = false;
  bool committed_ = false;
};

}  // namespace feedrate
