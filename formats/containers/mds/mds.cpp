// Mosaic's streaming datasets (MDS): index.json and shards of samples, each a row of named columns.
// Read where they lie, never written. Samples come in the order of the index.

#include <algorithm>
#include <cassert>

#include "formats/base/error.h"
#include "formats/base/sweep.h"
#include "formats/container.h"
#include "formats/containers/describe.h"
#include "formats/containers/mds/mds_shard.h"
#include "formats/containers/placed.h"

namespace feedrate::formats {

extern const Container& mds_container;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_readers = 16;  // of labels, which mostly wait

void expect_unpacked(const fs::path& path, const MdsShard& shard) {
  if (shard.packed.empty()) return;
  fail(shard.packed, "is compressed as a whole (", shard.compression,
       "), so that no sample can be read alone; 'feedrate convert dataset ", path.string(),
       " --to recordio --out OUT' unpacks it");
}

class MdsDataset final : public Dataset {
 public:
  explicit MdsDataset(const fs::path& from) {
    const auto [path, wishes] = split_wishes(from, table_wishes);
    info_.path = path;
    info_.format = mds_container.name();
    const std::vector<MdsShard> shards = read_mds_index(mds_directory(path));
    for (const MdsShard& shard : shards) expect_unpacked(from, shard);
    const std::vector<MdsRoles> roles = choose_mds_columns(shards, wishes);
    for (std::size_t i = 0; i < shards.size(); ++i) {
      shards_.emplace_back(shards[i], roles[i]);
      info_.files.push_back(shards[i].file);
      ends_.push_back(info_.size += shards[i].samples);
    }
    if (info_.size == 0) fail(path, "holds no samples");
    if (roles.front().text_labels) find_classes();
    Scratch scratch;
    complete_info(info_, *this, [&] {
      const Sample first = read(0, scratch);  // a shard may be empty
      return first.codec == &raw_codec ? Bytes() : first.bytes;
    });
    if (!roles.front().text_labels) return;
    info_.class_names = classes_.names();
    info_.classes = classes_.count();
  }

  Sample read(std::uint64_t index, Scratch& scratch) const override {
    return placed(index, place_of(index), [&](const Place& place) {
      return place.shard->samples().read(place.number, classes_, scratch.bytes);
    });
  }

  std::int32_t label(std::uint64_t index, Scratch&) const override {
    return placed(index, place_of(index), [&](const Place& place) {
      return place.shard->samples().label(place.number, classes_);
    });
  }

  bool look_ahead(std::uint64_t index) const override {
    const Place place = place_of(index);
    place.shard->look_ahead(place.number);
    return true;
  }

  void prefetch(std::span<const std::uint64_t> indices) const override {
    for (const std::uint64_t index : indices) {
      const Place place = place_of(index);
      place.shard->samples().prefetch(place.number);
    }
  }

  SamplePlace place(std::uint64_t index) const override {
    const Place at = place_of(index);
    return {at.shard->path(), at.shard->samples().start(at.number)};
  }

  Bytes details(std::uint64_t index, Scratch& scratch) const override {
    return as_bytes(read(index, scratch).name);
  }

  void expect_unchanged() const override {
    for (const MdsShardFile& shard : shards_) shard.expect_unchanged();
  }

 private:
  // Reads all labels, by many at once, because each waits for the disk.
  void find_classes() {
    const auto threads = static_cast<unsigned>(std::min(shards_.size(), max_readers));
    std::vector<TextClasses> found(threads);
    sweep(shards_.size(), threads, [&](unsigned worker, std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i) shards_[i].add_classes(found[worker]);
    });
    try {
      for (const TextClasses& some : found) classes_.add(some);
    } catch (const Error& error) {
      fail(info_.path, error.what());
    }
    classes_.number();
  }

  struct Place {
    const fs::path& file() const { return shard->path(); }
    std::string text() const {
      return join("number ", number, ", byte ", shard->samples().start(number));
    }
    const MdsShardFile* shard;
    std::uint64_t number;
  };
  Place place_of(std::uint64_t index) const {
    assert(index < size());
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), index);
    const auto shard = static_cast<std::size_t>(end - ends_.begin());
    return {&shards_[shard], index - (shard == 0 ? 0 : ends_[shard - 1])};
  }

  std::vector<MdsShardFile> shards_;
  TextClasses classes_;              // where labels are text
  std::vector<std::uint64_t> ends_;  // one past the last sample of each shard
};

class MdsContainer final : public Container {
 public:
  MdsContainer() : Container("mds", "Mosaic streaming: index.json and raw shards; read-only") {}

  bool knows(const fs::path& from) const override {
    const fs::path path = without_wishes(from);
    std::error_code ignored;
    const fs::path directory = mds_directory(path);
    return fs::is_directory(directory, ignored) &&
           (path == directory || fs::exists(path, ignored)) && has_mds_index(directory);
  }
  std::unique_ptr<Dataset> open(const fs::path& path) const override {
    return std::make_unique<MdsDataset>(path);
  }
  bool writes() const override { return false; }
  bool reads_ranges() const override { return true; }
  std::unique_ptr<Writer> create(const fs::path& directory, const WriterOptions&) const override {
    fail(directory, "the format mds is only read");
  }
  bool accepts(const Codec&) const override { return false; }
};

const MdsContainer mds_row;

}  // namespace

const Container& mds_container = mds_row;

}  // namespace feedrate::formats
