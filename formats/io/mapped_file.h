#pragma once
// Whole files mapped read-only, and what the system is told of how they will be read.

#include <atomic>
#include <cstdint>
#include <filesystem>

#include "formats/base/bytes.h"
#include "formats/io/lost_pages.h"

namespace feedrate::formats {

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
  /// Asks the system to have `part` of bytes() in memory soon. From then on single pages are
  /// expected: around one that came too late there is nothing that anybody asked for.
  void look_ahead(Bytes part) const;
  /// Gives back the memory of the pages that hold `part` of bytes(). Touched again they come again,
  /// the same, from the file: a file larger than memory can be read without filling it.
  void give_back(Bytes part) const;

 private:
  std::filesystem::path path_;
  Bytes bytes_;
  MapGuard guard_;
  FileState state_;
  mutable std::atomic<bool> looked_ahead_{false};
};

/// Asks the system to have these bytes of a map in memory soon; of other memory it asks nothing.
void prefetch(Bytes bytes);

}  // namespace feedrate::formats
