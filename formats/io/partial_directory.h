#pragma once
// A directory that appears under its name only when it is complete and on disk.

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "formats/io/directory_lock.h"

namespace feedrate::formats {

/// A directory made as `<path>.partial` and renamed to `path` by commit(), after its content is on
/// disk. Destroyed without commit, it removes the partial directory; a killed process leaves only
/// that. Refuses a partial directory that a running process is still writing, and whatever else has
/// its name: until it is renamed, its own is empty or holds the mark, wherever the process is
/// killed. Creates missing parents, and removes them again on failure.
class PartialDirectory {
 public:
  /// What happens to the partial directory of an earlier run.
  enum class Stale : std::uint8_t { removed, adopted };
  /// The empty file that marks a partial directory. A process that is killed right after the rename
  /// leaves it in a finished one, where it means nothing and is removed by the next that comes.
  static constexpr std::string_view mark = ".feedrate-partial";
  /// The file by which a later run goes on with what is there. It is removed before the rest, so that
  /// no run goes on with a part of it.
  static constexpr std::string_view progress = "progress.json";

  /// Throws Error when `path` exists already, `<path>.partial` is somebody else's or its parent
  /// cannot be written, and BeingWritten when another process is making it.
  explicit PartialDirectory(const std::filesystem::path& path, Stale stale = Stale::removed);
  ~PartialDirectory();
  PartialDirectory(const PartialDirectory&) = delete;
  PartialDirectory& operator=(const PartialDirectory&) = delete;

  const std::filesystem::path& path() const { return partial_; }
  /// The name that commit() gives it.
  const std::filesystem::path& target() const { return final_; }
  /// True when the directory of an earlier run existed and has been adopted.
  bool adopted() const { return adopted_; }
  /// Removes what an adopted directory holds, but the mark, as if it had not been adopted.
  void start_anew();
  /// Syncs everything written so far to disk.
  void sync();
  /// Keeps the directory from now on, also when destroyed without commit: a later run can resume
  /// from it.
  void keep() { kept_ = true; }
  void commit();

 private:
  void make_parents();
  void make_partial(Stale stale);
  void take_over(Stale stale);
  void make_new();
  void make_mark() const;
  void remove_stale() const;
  void remove_parents() noexcept;

  std::filesystem::path final_;
  std::filesystem::path partial_;
  std::vector<std::filesystem::path> made_parents_;  // outermost first
  DirectoryLock lock_;                               // on partial_, held while it is being written
  bool adopted_ = false;
  bool kept_ = false;
  bool committed_ = false;
};

/// Removes the mark from a finished directory.
void remove_mark(const std::filesystem::path& directory);

}  // namespace feedrate::formats
