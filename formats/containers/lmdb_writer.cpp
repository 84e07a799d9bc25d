#include "formats/containers/lmdb_writer.h"

#include <fmt/format.h>
#include <lmdb.h>

#include <cassert>

#include "formats/containers/datum.h"
#include "formats/error.h"

namespace feedrate {
namespace {

constexpr std::size_t batch_entries = 1000;                   // Caffe's
constexpr std::size_t batch_bytes = std::size_t{256} << 20;   // large images: before memory ends
constexpr std::size_t first_map_size = std::size_t{1} << 20;  // LMDB's default; doubled when full
constexpr std::uint64_t most_samples = 100'000'000;           // 8 digits sort as numbers do
constexpr std::size_t longest_key = 511;                      // of liblmdb as distributed

struct Close {
  void operator()(MDB_env* environment) const { mdb_env_close(environment); }
};

class LmdbWriter final : public Writer {
 public:
  LmdbWriter(const std::filesystem::path& data, const WriterOptions& options)
      : path_(data), codec_(options.codec) {
    MDB_env* created = nullptr;
    require(mdb_env_create(&created));
    environment_.reset(created);
    require(mdb_env_set_mapsize(created, map_size_));
    // Nobody else writes here, and the directory's owner brings everything to disk at the end.
    constexpr unsigned flags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_NOSYNC | MDB_NOMETASYNC;
    require(mdb_env_open(created, data.c_str(), flags, 0664));
  }

  void add(const Sample& sample) override {
    assert(sample.codec == codec_);
    if (count_ == most_samples)
      fail(path_, "an LMDB keeps its order up to ", most_samples, " samples");
    key_.clear();
    fmt::format_to(std::back_inserter(key_), "{:08}", count_);
    if (!sample.name.empty()) fmt::format_to(std::back_inserter(key_), "_{}", sample.name);
    if (key_.size() > longest_key) {
      fail(path_, "sample ", count_, ": the key '", key_, "' has more than ", longest_key,
           " bytes");
    }
    encode_value(sample);
    batch_.push_back({pending_.size(), key_.size(), value_.size()});
    append(pending_, as_bytes(key_));
    append(pending_, value_);
    ++count_;
    if (batch_.size() == batch_entries || pending_.size() >= batch_bytes) commit();
  }

  WriterState pause() override {
    if (!batch_.empty()) commit();
    return {count_, {}};
  }

  void finish(const MeanImage*) override {
    if (!batch_.empty()) commit();
    environment_.reset();
  }

 private:
  struct Entry {
    std::size_t at;  // of the key in pending_; the value follows
    std::size_t key_size;
    std::size_t value_size;
  };

  void encode_value(const Sample& sample) {
    if (codec_ != &raw_codec) {
      write_encoded_datum(sample.bytes, sample.label, value_);
    } else if (sample.shape.channels == 1) {
      write_raw_datum(sample.shape, sample.bytes, sample.label, value_);
    } else {
      write_raw_datum(sample.shape, planes(sample), sample.label, value_);
    }
  }

  // Colour as the two Caffe tools store it: R, G, B, or B, G, R where the key carries a name.
  Bytes planes(const Sample& sample) {
    const bool bgr = !sample.name.empty();
    if (sample.order == (bgr ? PixelOrder::planar_bgr : PixelOrder::planar_rgb))
      return sample.bytes;
    interleaved_.resize(sample.shape.bytes());
    decode(sample, interleaved_);
    planes_.resize(interleaved_.size());
    const std::size_t plane = planes_.size() / 3;
    for (std::size_t channel = 0; channel < 3; ++channel) {
      std::byte* to = planes_.data() + (bgr ? 2 - channel : channel) * plane;
      for (std::size_t i = 0; i < plane; ++i) to[i] = interleaved_[3 * i + channel];
    }
    return planes_;
  }

  void commit() {
    int result = try_commit();
    while (result == MDB_MAP_FULL) {  // the map, not the disk: grow it and play the batch again
      map_size_ *= 2;
      require(mdb_env_set_mapsize(environment_.get(), map_size_));
      result = try_commit();
    }
    require(result);
    batch_.clear();
    pending_.clear();
  }

  int try_commit() {
    MDB_txn* transaction = nullptr;
    MDB_dbi database = 0;
    int result = mdb_txn_begin(environment_.get(), nullptr, 0, &transaction);
    if (result != MDB_SUCCESS) return result;
    result = mdb_dbi_open(transaction, nullptr, 0, &database);
    for (std::size_t i = 0; i < batch_.size() && result == MDB_SUCCESS; ++i) {
      std::byte* at = pending_.data() + batch_[i].at;
      MDB_val key{batch_[i].key_size, at};
      MDB_val value{batch_[i].value_size, at + batch_[i].key_size};
      result = mdb_put(transaction, database, &key, &value, 0);
    }
    if (result == MDB_SUCCESS) return mdb_txn_commit(transaction);
    mdb_txn_abort(transaction);
    return result;
  }

  void require(int result) {
    if (result == MDB_SUCCESS) return;
    // liblmdb reports a write that was cut short, as on a full disk, as an I/O error.
    fail(path_, "cannot write the LMDB: ", mdb_strerror(result),
         result == EIO ? " (is the disk full?)" : "");
  }

  std::filesystem::path path_;
  const Codec* codec_;
  std::unique_ptr<MDB_env, Close> environment_;
  std::size_t map_size_ = first_map_size;
  std::uint64_t count_ = 0;
  std::string key_;
  Buffer value_, interleaved_, planes_;
  Buffer pending_;  // keys and values of the batch, one after the other
  std::vector<Entry> batch_;
};

}  // namespace

std::unique_ptr<Writer> make_lmdb_writer(const std::filesystem::path& data,
                                         const WriterOptions& options) {
  return std::make_unique<LmdbWriter>(data, options);
}

}  // namespace feedrate
