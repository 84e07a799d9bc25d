#pragma once
// Whole files mapped read-only, with hints to the system on how they will be read.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "formats/base/bytes.h"
#include "formats/base/lost_pages.h"
#include "formats/io/late_bytes.h"

namespace feedrate::formats {

/// What changes when a file is written to.
struct FileState {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
};

/// A whole file mapped read-only. Any thread may read; moves, never copies. An empty file is an
/// empty span. If the file shrinks later, its bytes read as zeros: see lost_pages.h. A file that stands
/// in for late bytes is mapped as they are.
class MappedFile {
 public:
  MappedFile();
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  /// All bytes. Those of late bytes are waited for, and stay: a small file, or Error. Readers of large
  /// ones use map().
  Bytes bytes() const {
    if (late_ != nullptr) hold_all();
    return bytes_;
  }
  /// The same addresses; of late bytes only what is held (late_bytes.h) may be read.
  Bytes map() const { return bytes_; }
  const std::filesystem::path& path() const { return path_; }

  /// Throws Error when the file has been written to or truncated since it was mapped, or a page of
  /// it could not be read. A new file of the same name does not count: the map still shows the old
  /// one.
  void expect_unchanged() const;

  /// Hints that the file will be read from front to back.
  void expect_reading_in_order() const;
  /// Asks the system to load `part` of bytes() soon. From then on single pages are expected:
  /// when one is late, loading the pages around it would be a waste.
  void look_ahead(Bytes part) const;
  /// Gives back the memory of the pages that hold `part` of bytes(). Reading them again loads them
  /// from the file, so a file larger than memory can be read without filling it.
  void give_back(Bytes part) const;

 private:
  void hold_all() const;

  std::filesystem::path path_;
  Bytes bytes_;
  MapGuard guard_;
  struct Late;
  std::unique_ptr<Late> late_;  // null: a file of this machine
  FileState state_;
  mutable std::atomic<bool> looked_ahead_{false};
};

/// While this lives, the system expects single pages of a map to be read, far apart: it does not load
/// the pages around them. Reading the heads of records otherwise loads nearly all of a file from a
/// cold disk. Has no effect on other memory.
class SinglePages {
 public:
  explicit SinglePages(Bytes map);
  ~SinglePages();
  SinglePages(const SinglePages&) = delete;
  SinglePages& operator=(const SinglePages&) = delete;

 private:
  Bytes map_;
};

/// Asks the system, or the server of late bytes, to load these bytes of a map soon; has no effect on
/// other memory.
void prefetch(Bytes bytes);

}  // namespace feedrate::formats
