// LMDBs of images: Caffe's Datums, which our writer makes too, and the images of other tools
// (lmdb_dialect.h). The order of the keys is the dataset's.

#include <lmdb.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <fstream>

#include "formats/container.h"
#include "formats/containers/describe.h"
#include "formats/containers/lmdb/lmdb_check.h"
#include "formats/containers/lmdb/lmdb_dialect.h"
#include "formats/containers/lmdb/lmdb_key.h"
#include "formats/containers/lmdb/lmdb_store.h"
#include "formats/containers/lmdb/lmdb_writer.h"
#include "formats/containers/placed.h"
#include "formats/containers/wishes.h"
#include "formats/io/mapped_file.h"

namespace feedrate::formats {

extern const Container& lmdb_container;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view data_name = "data.mdb";

// An environment that has a lock file may be in use by a writer: a read transaction keeps it from
// reusing the pages that we read. Without a lock file there is no writer, and we create nothing.
class Snapshot {
 public:
  explicit Snapshot(const fs::path& data) {
    const bool in_directory = data.filename() == data_name;
    const fs::path environment = in_directory ? data.parent_path() : data;
    const fs::path lock = in_directory ? environment / "lock.mdb" : fs::path(data) += "-lock";
    std::error_code ignored;
    if (!fs::exists(lock, ignored)) return;
    MDB_env* created = nullptr;
    require(mdb_env_create(&created), data);
    environment_.reset(created);
    const unsigned flags =
        MDB_RDONLY | MDB_NOTLS | MDB_NORDAHEAD | (in_directory ? 0 : MDB_NOSUBDIR);
    const fs::path name = environment.empty() ? fs::path(".") : environment;
    const int opened = mdb_env_open(created, name.c_str(), flags, 0664);
    // If the lock file cannot be written, there is no writer either. A map of the size that the
    // database states (1 TB in early ones) may be refused; our own map needs only the file's size.
    if (opened == EACCES || opened == EROFS || opened == EPERM || opened == ENOMEM) return;
    require(opened, data);
    MDB_txn* begun = nullptr;
    require(mdb_txn_begin(created, nullptr, MDB_RDONLY, &begun), data);
    transaction_.reset(begun);
  }

  std::optional<std::uint64_t> number() const {
    if (transaction_ == nullptr) return std::nullopt;
    return mdb_txn_id(transaction_.get());
  }

 private:
  struct Close {
    void operator()(MDB_env* environment) const { mdb_env_close(environment); }
    void operator()(MDB_txn* transaction) const { mdb_txn_abort(transaction); }
  };

  static void require(int result, const fs::path& data) {
    if (result != MDB_SUCCESS) fail(data, "cannot open the LMDB: ", lmdb_reason(result));
  }

  std::unique_ptr<MDB_env, Close> environment_;
  std::unique_ptr<MDB_txn, Close> transaction_;  // ends before its environment
};

class LmdbDataset final : public Dataset {
 public:
  LmdbDataset(const fs::path& path, const fs::path& data, std::optional<bool> bgr)
      : snapshot_(checked(data)), file_(data), bgr_(bgr) {
    info_.path = path;
    info_.files = {data};
    info_.format = lmdb_container.name();
    try {
      entries_ = lmdb_entries(file_.bytes(), lmdb_meta(file_.bytes(), snapshot_.number()));
      if (entries_.empty()) throw Error("the LMDB holds no entries");
      dialect_ = &find_lmdb_dialect(file_.bytes(), entries_);
    } catch (const Error& error) {
      fail(data, error.what());
    }
    info_.size = entries_.size();
    complete_info(info_, *this, [&] {
      const Sample first = dialect_->read(lmdb_item(file_.bytes(), entries_.front()));
      return first.codec == nullptr ? first.bytes : Bytes();
    });
    if (info_.codec != raw_codec.name() || info_.shape.channels != 3 || info_.sidecar || bgr)
      return;
    const bool named = !name_in_lmdb_key(lmdb_item(file_.bytes(), entries_.front()).key).empty();
    info_.notes.emplace_back(
        named ? "raw pixels are taken for the planes B, G, R, because keys hold names, as Caffe's "
                "convert_imageset writes them; ?order=rgb behind the path says otherwise"
              : "raw pixels are taken for the planes R, G, B, because keys are bare numbers, as "
                "Caffe's CIFAR tool writes them; ?order=bgr behind the path says otherwise");
  }

  // A writer may add to the database meanwhile: the transaction protects the pages that we read.
  void expect_unchanged() const override {
    if (!snapshot_.number()) file_.expect_unchanged();
  }

  void audit(const std::function<void(Finding)>& found) const override {
    try {
      check_lmdb(file_.bytes(), lmdb_meta(file_.bytes(), snapshot_.number()));
    } catch (const Error& error) {
      found({file_.path().string(), error.what()});
    }
    std::vector<std::pair<std::string_view, std::uint64_t>> names;
    for (std::uint64_t i = 0; i < entries_.size(); ++i) {
      try {
        const std::string_view name = dialect_->read(lmdb_item(file_.bytes(), entries_[i])).name;
        if (!name.empty()) names.emplace_back(name, i);
      } catch (const Error&) {
        // Reading this sample reports what is wrong with it.
      }
    }
    std::sort(names.begin(), names.end());
    for (std::size_t i = 1; i < names.size(); ++i) {
      if (names[i].first != names[i - 1].first) continue;
      found({join(file_.path(), ": sample ", names[i].second),
             join("has the name '", names[i].first, "' of sample ", names[i - 1].second)});
    }
  }

  Sample read(std::uint64_t index, Scratch&) const override {
    return placed(index, place_of(index), [&](const Place& place) {
      Sample sample = dialect_->read(place.item);
      if (sample.codec == nullptr) {
        sample.codec = &codec_for(sample.bytes);
        sample.shape = sample.codec->shape(sample.bytes);
      }
      if (bgr_ && sample.order != PixelOrder::interleaved) {
        sample.order = *bgr_ ? PixelOrder::planar_bgr : PixelOrder::planar_rgb;
      }
      return sample;
    });
  }

  std::int32_t label(std::uint64_t index, Scratch&) const override {
    return placed(index, place_of(index),
                  [&](const Place& place) { return dialect_->read(place.item).label; });
  }

  // A key holds the sample's name.
  Bytes details(std::uint64_t index, Scratch&) const override {
    return as_bytes(lmdb_item(file_.bytes(), entries_[index]).key);
  }

  bool look_ahead(std::uint64_t index) const override {
    file_.look_ahead(file_.bytes().subspan(entries_[index].value, entries_[index].value_size));
    return true;
  }

  SamplePlace place(std::uint64_t index) const override {
    return {file_.path(), entries_[index].value};
  }

 private:
  struct Place {
    const fs::path& file() const { return path; }
    std::string text() const { return join("key '", item.key, "', byte ", at); }
    const fs::path& path;
    LmdbItem item;
    std::uint64_t at;  // of its value
  };

  Place place_of(std::uint64_t index) const {
    assert(index < entries_.size());
    const LmdbEntry& entry = entries_[index];
    return {file_.path(), lmdb_item(file_.bytes(), entry), entry.value};
  }

  static const fs::path& checked(const fs::path& data) {
    const MappedFile file(data);
    try {
      lmdb_meta(file.bytes(), std::nullopt);
    } catch (const Error& error) {
      fail(data, error.what());
    }
    return data;
  }

  Snapshot snapshot_;
  MappedFile file_;
  std::optional<bool> bgr_;  // what the path says of planes
  std::vector<LmdbEntry> entries_;
  const LmdbDialect* dialect_ = nullptr;
};

class LmdbContainer final : public Container {
 public:
  LmdbContainer() : Container("lmdb", "Caffe: one LMDB of Datums, read in place from a map") {}

  bool knows(const fs::path& path) const override {
    std::error_code ignored;
    const fs::path data = data_file(without_wishes(path));
    if (data.filename() == data_name) return fs::is_regular_file(data, ignored);
    std::ifstream file(data, std::ios::binary);
    std::array<char, lmdb_start> start{};
    return file.read(start.data(), start.size()) && is_lmdb(std::as_bytes(std::span(start)));
  }

  std::unique_ptr<Dataset> open(const fs::path& path) const override {
    constexpr Wish known[] = {Wish::order};
    const auto [data, wishes] = split_wishes(path, known);
    return std::make_unique<LmdbDataset>(data, data_file(data), wishes.bgr);
  }

  std::unique_ptr<Writer> create(const fs::path& directory,
                                 const WriterOptions& options) const override {
    return make_lmdb_writer(directory / data_name, options);
  }

  bool accepts(const Codec& codec) const override {
    return &codec == &raw_codec || Container::accepts(codec);
  }
  const Codec& default_codec() const override { return raw_codec; }
  bool wants_mean() const override { return true; }

 private:
  static fs::path data_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored) ? path / data_name : path;
  }
};

const LmdbContainer lmdb_row;

}  // namespace

const Container& lmdb_container = lmdb_row;

}  // namespace feedrate::formats
