// Caffe's LMDB of Datums. The keys and their order are the dataset's order.
//
// Raw datums are planes, and their key tells in which order: convert_imageset writes "%08d_path"
// and B, G, R; Caffe's MNIST and CIFAR converters write bare digits and R, G, B. Our writer keeps
// to the same rule, so that both kinds can be read back by anyone who knows it.

#include <lmdb.h>

#include <array>
#include <cassert>
#include <fstream>

#include "formats/containers/datum.h"
#include "formats/containers/describe.h"
#include "formats/containers/lmdb_key.h"
#include "formats/containers/lmdb_pages.h"
#include "formats/containers/lmdb_writer.h"
#include "formats/containers/rows.h"
#include "formats/file.h"

namespace feedrate {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view data_name = "data.mdb";

// An environment that has a lock file may be in use by a writer: a read transaction keeps it from
// reusing the pages that we look at. Without a lock file nobody is there and nothing is created.
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
    // Where the lock file cannot be written no writer is at work either; and a map of the size that
    // a database states (1 TB in early ones) may be refused, which our own map does not need.
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
    if (result != MDB_SUCCESS) fail(data, "cannot open the LMDB: ", mdb_strerror(result));
  }

  std::unique_ptr<MDB_env, Close> environment_;
  std::unique_ptr<MDB_txn, Close> transaction_;  // ends before its environment
};

// What follows "00000042_", the whole key when it is not of that form, nothing for bare digits.
std::string_view name_in_key(std::string_view key) {
  const auto parsed = parse_lmdb_key(key);
  return parsed ? parsed->name : key;
}

class LmdbDataset final : public Dataset {
 public:
  LmdbDataset(const fs::path& path, const fs::path& data) : snapshot_(checked(data)), file_(data) {
    info_.path = path;
    info_.format = lmdb_container.name();
    try {
      entries_ = lmdb_entries(file_.bytes(), lmdb_meta(file_.bytes(), snapshot_.number()));
    } catch (const Error& error) {
      fail(data, error.what());
    }
    if (entries_.empty()) fail(data, "the LMDB holds no entries");
    info_.size = entries_.size();
    complete_info(info_, *this, [this] {
      const Datum datum = parse_datum(value(entries_.front()));
      return datum.encoded ? datum.data : Bytes();
    });
  }

  Sample read(std::uint64_t index, Scratch&) const override {
    assert(index < entries_.size());
    const LmdbEntry& entry = entries_[index];
    try {
      return sample(entry);
    } catch (const Error& error) {
      fail(file_.path(), "sample ", index, " (key '", key(entry), "', byte ", entry.value,
           "): ", error.what());
    }
  }

 private:
  static const fs::path& checked(const fs::path& data) {
    const MappedFile file(data);
    try {
      lmdb_meta(file.bytes(), std::nullopt);
    } catch (const Error& error) {
      fail(data, error.what());
    }
    return data;
  }

  std::string_view key(const LmdbEntry& entry) const {
    return as_text(file_.bytes().subspan(entry.key, entry.key_size));
  }
  Bytes value(const LmdbEntry& entry) const {
    return file_.bytes().subspan(entry.value, entry.value_size);
  }

  Sample sample(const LmdbEntry& entry) const {
    const Datum datum = parse_datum(value(entry));
    if (datum.data.empty()) {
      throw Error(
          datum.has_floats
              ? "the Datum holds float_data; Feedrate reads pixels of 8 bits (data) only"
              : "no Caffe Datum: it holds no image data (a list, or SSD's AnnotatedDatum?)");
    }
    Sample sample;
    sample.bytes = datum.data;
    sample.label = datum.label;
    sample.name = name_in_key(key(entry));
    if (datum.encoded) {
      sample.codec = &codec_for(datum.data);
      sample.shape = sample.codec->shape(datum.data);
      return sample;
    }
    if (!datum.shape.plausible() || datum.shape.bytes() != datum.data.size()) {
      throw Error(join("the Datum states ", datum.shape.channels, "x", datum.shape.height, "x",
                       datum.shape.width, " (channels, height, width) but holds ",
                       datum.data.size(), " bytes; Feedrate reads 1 or 3 channels"));
    }
    sample.codec = &raw_codec;
    sample.shape = datum.shape;
    if (datum.shape.channels == 3) {
      sample.order = sample.name.empty() ? PixelOrder::planar_rgb : PixelOrder::planar_bgr;
    }
    return sample;
  }

  Snapshot snapshot_;
  MappedFile file_;
  std::vector<LmdbEntry> entries_;
};

class LmdbContainer final : public Container {
 public:
  LmdbContainer() : Container("lmdb", "Caffe: one LMDB of Datums, read in place from a map") {}

  bool knows(const fs::path& path) const override {
    std::error_code ignored;
    const fs::path data = data_file(path);
    if (data.filename() == data_name) return fs::exists(data, ignored);
    std::ifstream file(data, std::ios::binary);
    std::array<char, lmdb_start> start{};
    return file.read(start.data(), start.size()) && is_lmdb(std::as_bytes(std::span(start)));
  }

  std::unique_ptr<Dataset> open(const fs::path& path) const override {
    return std::make_unique<LmdbDataset>(path, data_file(path));
  }

  std::unique_ptr<Writer> create(const fs::path& directory,
                                 const WriterOptions& options) const override {
    return make_lmdb_writer(directory / data_name, options);
  }

  bool accepts(const Codec& codec) const override {
    return &codec == &raw_codec || &codec == &png_codec || &codec == &jpeg_codec;
  }
  const Codec& default_codec() const override { return raw_codec; }
  bool wants_mean() const override { return true; }

 private:
  static fs::path data_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored) ? path / data_name : path;
  }
};

const LmdbContainer row;

}  // namespace

const Container& lmdb_container = row;

}  // namespace feedrate
