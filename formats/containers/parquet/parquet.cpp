// Tables of images in Apache Parquet, as the Hugging Face Hub keeps them: a column of encoded images
// and one of labels. Read where they lie, never written. Images that are not compressed once more are
// byte ranges of the file. Others are unpacked when the dataset is opened, if memory for all of them
// suffices, else each time with the page that holds them.
//
// Rows come in the order of the shards and, within a shard, of its row groups.

#include <algorithm>
#include <cassert>

#include "formats/base/error.h"
#include "formats/base/sweep.h"
#include "formats/container.h"
#include "formats/containers/braces.h"
#include "formats/containers/describe.h"
#include "formats/containers/parquet/parquet_file.h"
#include "formats/containers/parquet/parquet_set.h"
#include "formats/containers/placed.h"
#include "formats/io/file.h"

namespace feedrate::formats {

extern const Container& parquet_container;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_openers = 16;  // threads, which mostly wait
/// Memory for images that are compressed once more, in bytes.
constexpr std::uint64_t max_unpacked = std::uint64_t{1} << 30;

struct RowPlace {
  const fs::path& file() const { return table->path(); }
  std::string text() const { return join("row ", row, ", byte ", table->offset(row)); }
  const ParquetFile* table;
  std::uint64_t row;
};

class ParquetDataset final : public Dataset {
 public:
  ParquetDataset(const fs::path& path, const Wishes& wishes) {
    info_.path = path;
    info_.files = parquet_files(path);
    info_.format = parquet_container.name();
    open_files(wishes);
    for (const ParquetFile& file : files_) ends_.push_back(info_.size += file.rows());
    if (info_.size == 0) fail(path, "holds no rows");
    Scratch scratch;
    complete_info(info_, *this, [&] {
      const RowPlace first = place_of(0);  // a shard may be empty
      return first.table->image(first.row, scratch.bytes, pages_);
    });
    const bool stated = !info_.class_names.names.empty() && !text_labels_;
    if (stated || classes_.names.empty()) return;
    info_.class_names = classes_;
    info_.classes = static_cast<std::uint32_t>(classes_.names.size());
  }

  Sample read(std::uint64_t index, Scratch& scratch) const override {
    return placed(index, place_of(index), [&](const RowPlace& place) {
      Sample sample;
      sample.bytes = place.table->image(place.row, scratch.bytes, pages_);
      sample.codec = &codec_for(sample.bytes);
      sample.shape = sample.codec->shape(sample.bytes);
      sample.label = place.table->label(place.row);
      sample.name = place.table->name(place.row);
      return sample;
    });
  }

  std::int32_t label(std::uint64_t index, Scratch&) const override {
    return placed(index, place_of(index),
                  [&](const RowPlace& place) { return place.table->label(place.row); });
  }

  bool look_ahead(std::uint64_t index) const override {
    const RowPlace place = place_of(index);
    return place.table->look_ahead(place.row);
  }

  void prefetch(std::span<const std::uint64_t> indices) const override {
    for (const std::uint64_t index : indices) {
      const RowPlace place = place_of(index);
      place.table->prefetch(place.row);
    }
  }

  SamplePlace place(std::uint64_t index) const override {
    const RowPlace at = place_of(index);
    return {at.table->path(), at.table->offset(at.row)};
  }

  Bytes details(std::uint64_t index, Scratch&) const override {
    const RowPlace place = place_of(index);
    return as_bytes(place.table->name(place.row));
  }

  void expect_unchanged() const override {
    for (const ParquetFile& file : files_) file.expect_unchanged();
  }

  void audit(const std::function<void(Finding)>& found) const override {
    for (const ParquetFile& file : files_) file.audit(found);
  }

 private:
  // Opens many at once, because each waits for the disk.
  void open_files(const Wishes& wishes) {
    std::vector<OpenParquet> footers;
    std::uint64_t packed = 0;
    for (const fs::path& file : info_.files) {
      packed += footers.emplace_back(file, wishes).packed_bytes();
      const ParquetFooter& first = footers.front().footer;
      const ParquetColumns& columns = footers.front().columns;
      const ParquetFooter& own = footers.back().footer;
      if (own.columns[footers.back().columns.image].path != first.columns[columns.image].path ||
          own.columns[footers.back().columns.label].path != first.columns[columns.label].path) {
        fail(file, "has other columns than ", info_.files.front().filename());
      }
      if (footers.back().columns.text_labels != columns.text_labels) {
        fail(file, columns.text_labels ? "has numbers as labels, but " : "has text as labels, but ",
             info_.files.front().filename(), columns.text_labels ? " text" : " numbers");
      }
    }
    find_classes(footers);
    text_labels_ = footers.front().columns.text_labels;
    files_.resize(footers.size());
    const std::size_t threads = std::min(files_.size(), max_openers);
    sweep(files_.size(), static_cast<unsigned>(threads),
          [&](unsigned, std::uint64_t begin, std::uint64_t end) {
            for (std::uint64_t i = begin; i < end; ++i) {
              files_[i] = ParquetFile(std::move(footers[i]), packed <= max_unpacked);
            }
          });
    if (text_labels_) number_labels();
    note_slow_shuffle();
  }

  void note_slow_shuffle() {
    constexpr std::uint64_t slow = 4;  // times the work
    UnpackedBytes all;
    for (const ParquetFile& file : files_) {
      all.in_order += file.to_unpack().in_order;
      all.any_order += file.to_unpack().any_order;
    }
    if (all.in_order == 0 || all.any_order < slow * all.in_order) return;
    info_.slow_shuffle = join(
        "its images are compressed once more, many to a page: in shuffled order each unpacks a "
        "page, ",
        all.any_order / all.in_order,
        " times the work of reading them in order; 'feedrate convert dataset' makes a copy "
        "without that");
  }

  // Of numbered labels. Shards may leave the names to others, but not contradict them.
  void find_classes(std::span<const OpenParquet> files) {
    const OpenParquet* stating = nullptr;
    for (const OpenParquet& file : files) {
      const ClassNames own = parquet_classes(file.footer, file.columns);
      if (own.names.empty()) continue;
      if (stating == nullptr) {
        stating = &file;
        classes_ = own;
      } else if (own.names != classes_.names) {
        const std::size_t at = static_cast<std::size_t>(
            std::ranges::mismatch(own.names, classes_.names).in1 - own.names.begin());
        const auto name = [at](const ClassNames& classes) {
          return at < classes.names.size() ? join("'", classes.names[at], "'") : "none";
        };
        fail(file.path, "names class ", at, " ", name(own), ", but ", stating->path.filename(), " ",
             name(classes_));
      }
    }
  }

  void number_labels() {
    TextClasses texts;
    try {
      for (const ParquetFile& file : files_) texts.add(file.texts());
    } catch (const Error& error) {
      fail(info_.path, error.what());
    }
    texts.number();
    for (ParquetFile& file : files_) file.number_labels(texts);
    classes_ = texts.names();
  }

  RowPlace place_of(std::uint64_t index) const {
    assert(index < size());
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), index);
    const auto file = static_cast<std::size_t>(end - ends_.begin());
    return {&files_[file], index - (file == 0 ? 0 : ends_[file - 1])};
  }

  std::vector<ParquetFile> files_;
  std::vector<std::uint64_t> ends_;  // one past the last sample of each file
  ClassNames classes_;
  bool text_labels_ = false;
  mutable ParquetPageCache pages_;
};

class ParquetContainer final : public Container {
 public:
  ParquetContainer()
      : Container("parquet", "Hugging Face Hub: tables of images and labels; read-only") {}

  bool knows(const fs::path& path) const override {
    try {
      const fs::path file = without_wishes(path);
      std::error_code ignored;
      if (fs::is_directory(file, ignored)) return holds_parquet(file);
      if (is_brace_pattern(file))
        return knows_pattern(file, [&](const fs::path& one) { return knows(one); });
      if (!fs::is_regular_file(file, ignored)) return false;
      return is_parquet(open_file_stream(file)->peek());
    } catch (const Error&) {
      return false;
    }
  }

  std::unique_ptr<Dataset> open(const fs::path& path) const override {
    const auto [files, wishes] = split_wishes(path, table_wishes);
    return std::make_unique<ParquetDataset>(files, wishes);
  }

  bool writes() const override { return false; }
  bool reads_ranges() const override { return true; }
  std::unique_ptr<Writer> create(const fs::path& directory, const WriterOptions&) const override {
    fail(directory, "the format parquet is only read");
  }
  bool accepts(const Codec&) const override { return false; }
};

const ParquetContainer parquet_row;

}  // namespace

const Container& parquet_container = parquet_row;

}  // namespace feedrate::formats
