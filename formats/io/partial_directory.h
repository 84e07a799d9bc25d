#pragma once
// A directory that appears only when all that belongs into it is on disk.

#include <cstdint>
#include <filesystem>
#include <vector>

#include "formats/io/file.h"

namespace feedrate::formats {

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

}  // namespace feedrate::formats
