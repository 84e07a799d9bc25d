#pragma once
// One tar of samples, open for reading: mapped, or unpacked into memory where it is compressed. The
// starts of its samples come from the index beside it, if there is a valid one, else from a walk
// over all headers.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/memory_budget.h"
#include "formats/containers/webdataset/tar_sample.h"
#include "formats/containers/webdataset/wds_index.h"
#include "formats/dataset.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {

/// Any thread may read. Moves, never copies.
class TarShard {
 public:
  TarShard() = default;  // no file: only to be assigned to
  /// Unpacking takes memory from `memory`. Throws Error naming the file.
  TarShard(const std::filesystem::path& path, MemoryBudget& memory);

  const std::filesystem::path& path() const { return path_; }
  /// Hints that the sample is needed soon; false where the shard is unpacked in memory.
  bool look_ahead(std::uint64_t sample) const;
  /// Start to bring into the processor's cache what the index says of the sample, and then what
  /// read() needs first.
  void prefetch_place(std::uint64_t sample) const;
  void prefetch_sample(std::uint64_t sample) const;
  void expect_unchanged() const { file_.expect_unchanged(); }
  /// True where the bytes come from a server when they are asked for.
  bool is_late() const { return late_bytes_at(tar_) != nullptr; }
  std::uint64_t size() const { return index_.starts.size() - 1; }  // samples
  /// Members that operating systems left behind, where no index says what there is.
  std::uint64_t clutter() const { return clutter_; }
  /// Where the sample's first header is, or other members in front of it, which are skipped.
  std::uint64_t start(std::uint64_t sample) const { return index_.starts[sample]; }

  /// Finds the files of a sample, whose bytes stay with `held`. Throws Error without a place; `files`
  /// then holds what was found until then, such as the key.
  void read(std::uint64_t sample, TarSample& files, Held& held) const;
  Bytes bytes(const TarSample::Part& part) const { return tar_.subspan(part.offset, part.size); }

  /// Checks everything: the index, members that belong to no sample, bytes after the end. Calls
  /// `on_sample` with the key of each sample.
  void audit(const std::function<void(Finding)>& found,
             const std::function<void(std::string_view key)>& on_sample) const;

 private:
  void unpack(MemoryBudget& memory);
  void use_index();
  void walk();
  void refuse_second_tar(std::uint64_t end) const;
  Bytes stored(std::uint64_t sample) const;
  bool goes_on(std::string_view key, std::uint64_t at) const;
  void audit_rest(std::uint64_t end, const std::function<void(Finding)>& found) const;

  std::filesystem::path path_;
  MappedFile file_;
  Buffer unpacked_;  // in place of file_, for a compressed tar
  Bytes tar_;
  MappedFile index_file_;  // empty when no index is used
  WdsIndex index_;
  std::uint64_t clutter_ = 0;
  std::string index_fault_;  // why an index that exists is not used
};

}  // namespace feedrate::formats
