// MXNet's RecordIO: image records in one .rec file or in shards, each with an index (.idx) and a
// list (.lst) beside it. The .rec alone is enough to read; with an .idx it need not be scanned.
// Samples come in the order of the shards and, within a shard, of the file.
//
// The path of one shard opens the whole set. When other shards are missing it opens that file
// alone, unless a sidecar says that the set was written by Feedrate and complete.

#include <algorithm>
#include <cassert>

#include "formats/base/error.h"
#include "formats/base/sweep.h"
#include "formats/container.h"
#include "formats/containers/braces.h"
#include "formats/containers/describe.h"
#include "formats/containers/file_set.h"
#include "formats/containers/placed.h"
#include "formats/containers/recordio/record.h"
#include "formats/containers/recordio/record_file.h"
#include "formats/containers/recordio/recordio_writer.h"
#include "formats/io/byte_stream.h"

namespace feedrate::formats {

extern const Container& recordio_container;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view record_extension = ".rec";
constexpr std::size_t max_openers = 8;  // threads; a shard's .idx and .lst are long texts to parse

constexpr std::string_view endings[] = {record_extension};
constexpr FileNames record_files{.what = ".rec file", .endings = endings};

std::vector<fs::path> files_of(const fs::path& path) { return dataset_files(path, record_files); }

class RecordioDataset final : public Dataset {
 public:
  RecordioDataset(const fs::path& path, const std::vector<fs::path>& files) {
    files_.resize(files.size());
    sweep(files.size(), static_cast<unsigned>(std::min(files.size(), max_openers)),
          [&](unsigned, std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t i = begin; i < end; ++i) files_[i] = RecordFile(files[i]);
          });
    for (const RecordFile& file : files_) ends_.push_back(info_.size += file.images());
    if (info_.size == 0) fail(files.size() == 1 ? files.front() : path, "holds no records");
    info_.path = path;
    info_.files = files;
    info_.format = recordio_container.name();
    Scratch scratch;
    complete_info(info_, *this, [&] {
      const Place first = place_of(0);
      return first.records->read(first.image, scratch).image;
    });
  }

  Sample read(std::uint64_t index, Scratch& scratch) const override {
    return placed(index, place_of(index), [&](const Place& place) {
      const ImageRecord record = place.records->read(place.image, scratch);
      Sample sample;
      sample.bytes = record.image;
      sample.codec = &codec_for(record.image);
      sample.shape = sample.codec->shape(record.image);
      sample.name = place.records->name(record.id);
      read_labels(record, sample, scratch);
      return sample;
    });
  }

  std::int32_t label(std::uint64_t index, Scratch& scratch) const override {
    return placed(index, place_of(index), [&](const Place& place) {
      Sample sample;
      read_labels(place.records->read(place.image, scratch), sample, scratch);
      return sample.label;
    });
  }

  Bytes details(std::uint64_t index, Scratch& scratch) const override {
    const Place place = place_of(index);
    return place.records->read(place.image, scratch).head;
  }

  bool look_ahead(std::uint64_t index) const override {
    const Place at = place_of(index);
    at.records->look_ahead(at.image);
    return true;
  }

  void prefetch(std::span<const std::uint64_t> indices) const override {
    for (const std::uint64_t index : indices) {
      const Place at = place_of(index);
      at.records->prefetch_place(at.image);
    }
    for (const std::uint64_t index : indices) {
      const Place at = place_of(index);
      at.records->prefetch_image(at.image);
    }
  }

  SamplePlace place(std::uint64_t index) const override {
    const Place at = place_of(index);
    return {at.records->path(), at.records->start(at.image)};
  }

  void expect_unchanged() const override {
    for (const RecordFile& file : files_) file.expect_unchanged();
  }

  void audit(const std::function<void(Finding)>& found) const override {
    std::vector<std::uint64_t> ids;
    for (const RecordFile& file : files_) {
      file.audit(found, [&](std::uint64_t id) { ids.push_back(id); });
    }
    std::sort(ids.begin(), ids.end());
    for (auto at = ids.begin(); at != ids.end();) {
      const auto end = std::upper_bound(at, ids.end(), *at);
      if (end - at > 1) {
        found({shown_path(info_.path), join(end - at, " records have the id ", *at)});
      }
      at = end;
    }
  }

 private:
  struct Place {
    const fs::path& file() const { return records->path(); }
    std::string text() const { return join("byte ", records->start(image)); }
    const RecordFile* records;
    std::uint64_t image;  // in the file
  };

  Place place_of(std::uint64_t index) const {
    assert(index < size());
    const auto file = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) -
                                               ends_.begin());
    return {&files_[file], index - (file == 0 ? 0 : ends_[file - 1])};
  }

  std::vector<RecordFile> files_;
  std::vector<std::uint64_t> ends_;  // images in the files up to and including each
};

class RecordioContainer final : public Container {
 public:
  RecordioContainer()
      : Container("recordio", "MXNet: .rec files of image records, with .idx and .lst") {}

  bool knows(const fs::path& path) const override {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return holds_files(path, record_files);
    if (is_brace_pattern(path))
      return knows_pattern(path, [&](const fs::path& one) { return knows(one); });
    if (path.extension() == record_extension) return fs::exists(path, ignored);
    try {
      return is_recordio(open_file_stream(path)->peek());
    } catch (const Error&) {
      return false;
    }
  }

  std::unique_ptr<Dataset> open(const fs::path& path) const override {
    return std::make_unique<RecordioDataset>(path, files_of(path));
  }

  std::unique_ptr<Writer> create(const fs::path& directory,
                                 const WriterOptions& options) const override {
    return make_recordio_writer(directory, options);
  }

  bool shardable() const override { return true; }
  bool reads_ranges() const override { return true; }
  bool holds_label_lists() const override { return true; }
  bool wants_mean() const override { return true; }
  std::vector<fs::path> write_index(const fs::path& path) const override {
    std::vector<fs::path> written;
    for (const fs::path& file : files_of(path)) {
      write_record_index(file);
      written.push_back(beside_records(file, ".idx"));
    }
    return written;
  }
};

const RecordioContainer recordio_row;

}  // namespace

const Container& recordio_container = recordio_row;

}  // namespace feedrate::formats
