#pragma once
// One TFRecord file: its bytes, mapped or (gzip, zlib) inflated into memory, and the starts of its
// records, from the index beside it or from a walk over the frames.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "formats/base/memory_budget.h"
#include "formats/base/offsets.h"
#include "formats/dataset.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {

/// Memory in bytes for all compressed files of one dataset together; their records can only be found by
/// inflating them.
inline constexpr std::uint64_t max_inflated = std::uint64_t{4} << 30;

/// Any thread may read. Movable.
class TfrecordShard {
 public:
  TfrecordShard() = default;  // no file: only to be assigned to
  /// Inflating a compressed file takes its size off `memory`, in bytes, which starts as max_inflated.
  /// Throws Error when that is not enough, and for damage.
  TfrecordShard(const std::filesystem::path& path, MemoryBudget& memory);

  const std::filesystem::path& path() const { return path_; }
  /// Hints that the record is needed soon; false where the shard is inflated in memory.
  bool look_ahead(std::uint64_t record) const;
  /// Start to bring into the processor's cache what the index says of the record, and then the
  /// record.
  void prefetch_place(std::uint64_t record) const { starts_.prefetch(record); }
  void prefetch_record(std::uint64_t record) const { prefetch_start(bytes_, starts_[record]); }
  void expect_unchanged() const { file_.expect_unchanged(); }
  std::uint64_t records() const { return starts_.size() - 1; }
  /// Byte at which a record starts; in a compressed file, of the inflated bytes.
  std::uint64_t start(std::uint64_t record) const { return starts_[record]; }

  /// The data of a record, in place, which stays with `held`. Checks both CRCs; throws Error without naming the file.
  Bytes read(std::uint64_t record, Held& held) const;

  /// Replaces the index beside the file as tfrecord2idx does, from the frames alone. Throws Error
  /// for a compressed file, since nobody can use offsets into its inflated bytes.
  void write_index() const;

  /// Reports where the index does not agree with the records.
  void audit_index(const std::function<void(Finding)>& found) const;

 private:
  void find_starts();
  Held held_head() const;
  Offsets scan() const;
  Bytes stored(std::uint64_t record) const;

  std::filesystem::path path_;
  MappedFile file_;
  Buffer inflated_;
  Bytes bytes_;     // views file_ or inflated_
  Offsets starts_;  // of the records, then the end of the last one
  bool indexed_ = false;
  std::string index_problem_;  // why the index was not used
};

/// True when the file starts like a TFRecord file, plain or compressed. Never throws.
bool looks_like_tfrecords(const std::filesystem::path& file);

}  // namespace feedrate::formats
