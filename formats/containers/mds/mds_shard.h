#pragma once
// One MDS shard: u32 count | u32 offsets[count + 1] | what the writer noted | samples. A sample is
// the u32 sizes of its values of no fixed size, then all values in the order of the columns.

#include <cstdint>
#include <optional>

#include "formats/containers/mds/mds_index.h"
#include "formats/dataset.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {

/// Which columns are the image, its label and its name.
struct MdsRoles {
  std::size_t image = 0;
  std::size_t label = 0;
  std::optional<std::size_t> name;
};

/// Throws Error, which lists the columns, where it cannot be told.
MdsRoles choose_mds_columns(const std::vector<MdsColumn>& columns);

/// Any thread may read. Movable.
class MdsShardFile {
 public:
  /// Throws Error, naming the file, when it is not as the index says.
  explicit MdsShardFile(const MdsShard& shard);

  const std::filesystem::path& path() const { return file_.path(); }
  std::uint64_t samples() const { return samples_; }
  /// Byte at which a sample starts.
  std::uint64_t start(std::uint64_t number) const;
  /// The sample, in place. Throws Error without naming the file.
  Sample read(std::uint64_t number, Scratch& scratch) const;
  void look_ahead(std::uint64_t number) const;
  void prefetch(std::uint64_t number) const { __builtin_prefetch(offset_at(number)); }
  void expect_unchanged() const { file_.expect_unchanged(); }

 private:
  const std::byte* offset_at(std::uint64_t number) const;
  Bytes sample(std::uint64_t number) const;

  MappedFile file_;
  std::uint64_t samples_ = 0;
  std::vector<MdsColumn> columns_;
  MdsRoles roles_;
};

}  // namespace feedrate::formats
