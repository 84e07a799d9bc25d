#pragma once
// One tar of samples, open for reading: mapped, or unpacked into memory where it is compressed.
// Where its samples start comes from the index beside it, when there is one that fits, else from a
// walk over all headers.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/containers/webdataset/memory_budget.h"
#include "formats/containers/webdataset/tar_sample.h"
#include "formats/containers/webdataset/wds_index.h"
#include "formats/dataset.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {

/// Any thread may read. Moves, never copies.
class TarShard {
 public:
  TarShard() = default;  // of no file: to be assigned to
  /// Unpacking takes from `memory`. Throws Error naming the file.
  TarShard(const std::filesystem::path& path, MemoryBudget& memory);

  const std::filesystem::path& path() const { return path_; }
  /// False where the shard is unpacked in memory.
  bool look_ahead(std::uint64_t sample) const;
  void expect_unchanged() const { file_.expect_unchanged(); }
  std::uint64_t size() const { return index_.starts.size() - 1; }  // samples
  /// Where the sample's first header is, or something to pass over in front of it.
  std::uint64_t start(std::uint64_t sample) const { return index_.starts[sample]; }

  /// Finds the files of a sample. Throws Error without a place; what was found by then is in
  /// `files`, its key above all.
  void read(std::uint64_t sample, TarSample& files) const;
  Bytes bytes(const TarSample::Part& part) const { return tar_.subspan(part.offset, part.size); }

  /// Walks over everything: the index, members that belong to no sample, bytes behind the end.
  /// Calls `on_sample` with the key of each.
  void audit(const std::function<void(Finding)>& found,
             const std::function<void(std::string_view key)>& on_sample) const;

 private:
  void unpack(MemoryBudget& memory);
  void use_index();
  void walk();
  bool goes_on(std::string_view key, std::uint64_t at) const;
  void audit_rest(std::uint64_t end, const std::function<void(Finding)>& found) const;

  std::filesystem::path path_;
  MappedFile file_;
  Buffer unpacked_;  // in place of file_, where it is compressed
  Bytes tar_;
  MappedFile index_file_;  // empty when the index is not used
  WdsIndex index_;
  std::string index_fault_;  // why there is an index but it is not used
};

}  // namespace feedrate::formats
