#pragma once
// One MDS shard: u32 count | u32 offsets[count + 1] | what the writer noted | samples. A sample is
// the u32 sizes of its values of no fixed size, then all values in the order of the columns.

#include <cstdint>
#include <optional>

#include "formats/containers/column_choice.h"
#include "formats/containers/mds/mds_index.h"
#include "formats/containers/text_classes.h"
#include "formats/dataset.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {

/// Which columns are the image, its label and its name.
struct MdsRoles {
  std::size_t image = 0;
  std::size_t label = 0;
  bool text_labels = false;  // the names of classes, in place of their numbers
  std::optional<std::size_t> name;
};

/// Those of each shard. Throws Error, naming the shard's file, where it cannot be told, with a list of
/// the columns, and where the shards differ.
std::vector<MdsRoles> choose_mds_columns(const std::vector<MdsShard>& shards, const Wishes& wishes);

/// The samples in the bytes of a shard, which must outlive it. Any thread may read.
class MdsSamples {
 public:
  /// Throws Error, naming the shard's file, when the bytes are not as the index says.
  MdsSamples(const MdsShard& shard, Bytes bytes, const MdsRoles& roles);

  std::uint64_t count() const { return count_; }
  /// Byte at which a sample starts.
  std::uint64_t start(std::uint64_t number) const;
  /// The sample, in place or in `memory`; `classes` are those of labels that are text. Throws Error
  /// without naming the file.
  Sample read(std::uint64_t number, const TextClasses& classes, Buffer& memory) const;
  /// The sample's label, whatever its image is. Throws Error like read().
  std::int32_t label(std::uint64_t number, const TextClasses& classes) const;
  /// Adds the classes of all labels, which are text. What read() refuses has none. Throws Error, naming
  /// the shard's file, for too many classes.
  void add_classes(TextClasses& classes) const;
  /// The sample's bytes; empty where the shard states none.
  Bytes bytes(std::uint64_t number) const;
  void prefetch(std::uint64_t number) const { __builtin_prefetch(offset_at(number)); }

 private:
  struct Values {
    Bytes image, label, name;
  };

  const std::byte* offset_at(std::uint64_t number) const;
  Bytes expected_bytes(std::uint64_t number) const;
  Values values(std::uint64_t number) const;
  std::int32_t label_of(const Values& values, const TextClasses& classes) const;

  std::filesystem::path path_;
  Bytes bytes_;
  std::uint64_t count_ = 0;
  std::vector<MdsColumn> columns_;
  MdsRoles roles_;
};

/// A shard's file, mapped. Any thread may read. Movable.
class MdsShardFile {
 public:
  /// Throws Error, naming the file, when it is not as the index says.
  MdsShardFile(const MdsShard& shard, const MdsRoles& roles)
      : file_(shard.file), samples_(shard, file_.bytes(), roles) {}

  const std::filesystem::path& path() const { return file_.path(); }
  const MdsSamples& samples() const { return samples_; }
  void add_classes(TextClasses& classes) const {
    const SinglePages labels(file_.bytes());  // images lie between them
    samples_.add_classes(classes);
  }
  void look_ahead(std::uint64_t number) const {
    if (const Bytes bytes = samples_.bytes(number); !bytes.empty()) file_.look_ahead(bytes);
  }
  void expect_unchanged() const { file_.expect_unchanged(); }

 private:
  MappedFile file_;
  MdsSamples samples_;
};

}  // namespace feedrate::formats
