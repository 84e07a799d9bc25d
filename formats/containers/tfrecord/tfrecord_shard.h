#pragma once
// One TFRecord file: its bytes, mapped or (gzip) inflated into memory, and where its records start,
// from the index beside it or from a walk over the frames.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "formats/dataset.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {

/// Bytes that the gzip files of one dataset may take in memory, all together: records in them are
/// found only when they are inflated.
inline constexpr std::uint64_t max_inflated = std::uint64_t{4} << 30;

/// Any thread may read. Movable.
class TfrecordShard {
 public:
  TfrecordShard() = default;  // of no file: to be assigned to
  /// A gzip file takes memory out of `memory_left`, in bytes, which starts as max_inflated. Throws
  /// Error when that is not enough, for other compressions and for damage.
  TfrecordShard(const std::filesystem::path& path, std::atomic<std::uint64_t>& memory_left);

  const std::filesystem::path& path() const { return path_; }
  /// False where the shard is unpacked in memory.
  bool look_ahead(std::uint64_t record) const;
  void expect_unchanged() const { file_.expect_unchanged(); }
  std::uint64_t records() const { return starts_.size() - 1; }
  /// Byte at which a record starts, in the inflated file where it is gzip.
  std::uint64_t start(std::uint64_t record) const { return starts_[record]; }

  /// The data of a record, in place. Both CRCs are checked; throws Error without naming the file.
  Bytes read(std::uint64_t record) const;

  /// Writes the index beside the file anew, as tfrecord2idx does, from the frames alone. Throws
  /// Error for a gzip file: offsets in what it unpacks to help nobody.
  void write_index() const;

  /// Tells where the index does not agree with the records.
  void audit_index(const std::function<void(Finding)>& found) const;

 private:
  void find_starts();
  std::vector<std::uint64_t> scan() const;

  std::filesystem::path path_;
  MappedFile file_;
  Buffer inflated_;
  Bytes bytes_;                              // of one of them
  std::vector<std::uint64_t> starts_ = {0};  // and the end
  bool indexed_ = false;
  std::string index_problem_;  // why the index was not used
};

/// True when the file starts as TFRecords do, plain or within gzip. Never throws.
bool looks_like_tfrecords(const std::filesystem::path& file);

}  // namespace feedrate::formats
