#include "converters/sources/mds_stream.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "formats/base/error.h"
#include "formats/codec.h"
#include "formats/containers/mds/mds_image.h"
#include "formats/containers/mds/mds_shard.h"
#include "formats/io/byte_stream.h"
#include "formats/io/late_bytes.h"

namespace feedrate::converters {
using namespace formats;

namespace {

namespace fs = std::filesystem;

// The index may state any size, so memory grows with what the file holds, and no further.
void unpack(const MdsShard& shard, Buffer& into) {
  into.clear();
  const Decompressed found = decompress(open_file_stream(shard.packed), shard.packed.string());
  if (found.suffix.empty()) {
    fail(shard.packed, "is compressed with ", shard.compression,
         ", as its index states; Feedrate unpacks zstd, gz, bz2 and xz");
  }
  for (Bytes block = found.stream->next(); !block.empty(); block = found.stream->next()) {
    if (block.size() > shard.bytes - into.size()) {
      fail(shard.packed, "unpacks to more than the ", shard.bytes, " bytes that ", mds_index_name,
           " states");
    }
    append(into, block);
  }
}

class PackedMdsStream final : public SampleStream {
 public:
  explicit PackedMdsStream(const fs::path& path)
      : shards_(read_mds_index(mds_directory(path))),
        roles_(choose_mds_columns(shards_, split_wishes(path, table_wishes).second)) {
    for (const MdsShard& shard : shards_) info_.size += shard.samples;
    if (info_.size == 0) fail(path, "holds no samples");
    if (roles_.front().text_labels) find_classes();
    open_next();
    const std::vector<MdsColumn>& columns = shards_.front().columns;
    if (is_mds_pixels(columns[roles_.front().image].encoding)) info_.codec = &raw_codec;
  }

  const StreamInfo& info() const override { return info_; }
  std::string_view problem() const override { return problem_; }

  bool next(Sample& sample) override {
    while (number_ == samples_->count()) {
      if (shard_ == shards_.size()) return false;
      open_next();
    }
    if (!read(number_, sample)) sample = {};
    ++number_;
    return true;
  }

 private:
  void open_next() {
    const MdsShard& shard = shards_[shard_];
    const MdsRoles& roles = roles_[shard_++];
    samples_.reset();
    file_.reset();
    if (shard.packed.empty()) {
      file_.emplace(shard.file);
      samples_.emplace(shard, file_->bytes(), roles);
    } else {
      unpack(shard, unpacked_);
      samples_.emplace(shard, unpacked_, roles);
    }
    number_ = 0;
  }

  // Unpacks every shard once more: the last label may be of a class that comes first.
  void find_classes() {
    while (shard_ < shards_.size()) {
      open_next();
      samples_->add_classes(classes_);
    }
    shard_ = 0;
    classes_.number();
    info_.class_names = classes_.names();
    info_.classes = classes_.count();
  }

  bool read(std::uint64_t number, Sample& sample) {
    problem_.clear();
    forget_failed_late_bytes();
    try {
      sample = samples_->read(number, classes_, image_);
      return true;
    } catch (const Error& error) {
      if (late_bytes_failed()) throw;
      const MdsShard& shard = shards_[shard_ - 1];
      problem_ = join((shard.packed.empty() ? shard.file : shard.packed).string(), ": number ",
                      number, ", byte ", samples_->start(number), " unpacked: ", error.what());
      return false;
    }
  }

  std::vector<MdsShard> shards_;
  std::vector<MdsRoles> roles_;  // of each
  TextClasses classes_;          // where labels are text
  StreamInfo info_;
  std::size_t shard_ = 0;  // of the next
  Buffer unpacked_, image_;
  std::optional<MappedFile> file_;
  std::optional<MdsSamples> samples_;  // of the shard that is open
  std::uint64_t number_ = 0;           // of the next sample in it
  std::string problem_;
};

}  // namespace

bool is_packed_mds(const fs::path& path) {
  try {
    const fs::path directory = mds_directory(path);
    return has_mds_index(directory) &&
           std::ranges::any_of(read_mds_index(directory),
                               [](const MdsShard& shard) { return !shard.packed.empty(); });
  } catch (const std::exception&) {
    return false;
  }
}

std::unique_ptr<SampleStream> open_packed_mds(const fs::path& path) {
  return std::make_unique<PackedMdsStream>(path);
}

}  // namespace feedrate::converters
