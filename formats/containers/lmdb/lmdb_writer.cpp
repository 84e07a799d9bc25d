#include "formats/containers/lmdb/lmdb_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "formats/base/error.h"
#include "formats/containers/lmdb/datum.h"
#include "formats/containers/lmdb/lmdb_check.h"
#include "formats/containers/lmdb/lmdb_key.h"
#include "formats/containers/lmdb/lmdb_store.h"
#include "formats/io/mapped_file.h"
#include "formats/means/mean_format.h"

namespace feedrate::formats {
namespace {

constexpr int usual_digits = 8;
constexpr int cifar_digits = 5;
constexpr Shape cifar_shape{32, 32, 3};
constexpr std::uint64_t max_cifar_samples = 100'000;           // 5 digits sort as numbers do
constexpr std::uint64_t max_usual_samples = 100'000'000;       // 8 digits do
constexpr std::size_t max_key_bytes = 511;                     // of liblmdb as distributed
constexpr std::size_t max_image_bytes = std::size_t{1} << 31;  // about protobuf's own limit

// Copies the raw colour pixels of `sample` as three planes in `order`. `to` has shape.bytes()
// bytes.
void copy_planes(const Sample& sample, PixelOrder order, MutableBytes to) {
  const std::size_t plane = to.size() / 3;
  const bool bgr = order == PixelOrder::planar_bgr;
  for (std::size_t channel = 0; channel < 3; ++channel) {
    std::byte* const out = to.data() + channel * plane;
    if (sample.order == PixelOrder::interleaved) {
      const std::byte* const in = sample.bytes.data() + (bgr ? 2 - channel : channel);
      for (std::size_t i = 0; i < plane; ++i) out[i] = in[3 * i];
    } else {
      const std::size_t from = sample.order == order ? channel : 2 - channel;
      std::copy_n(sample.bytes.data() + from * plane, plane, out);
    }
  }
}

// What a killed writer left behind.
struct LmdbRemains {
  int digits = 0;                    // of the numbers in the keys; 0 if nothing is kept
  bool red_first = false;            // the last sample kept has raw planes R, G, B
  std::vector<std::string> surplus;  // keys after those to keep, in order
};

// Throws Error (without the file's name) unless every key is the number of its sample, all of the
// same width.
LmdbRemains check_keys(Bytes file, const LmdbMeta& meta, const std::vector<LmdbEntry>& entries,
                       std::uint64_t first, std::uint64_t samples) {
  LmdbRemains remains;
  for (std::uint64_t i = 0; i < entries.size(); ++i) {
    const LmdbEntry& entry = entries[i];
    const std::string_view key = as_text(file.subspan(entry.key, entry.key_size));
    const auto numbered = parse_lmdb_key(key);
    if (i == 0 && numbered) remains.digits = numbered->digits;
    if (!numbered || numbered->number != first + i || numbered->digits != remains.digits) {
      throw Error(join("entry ", i, " has the key '", key, "', not the one of sample ", first + i));
    }
    if (i + 1 == samples) {
      const Datum last = parse_datum(file.subspan(entry.value, entry.value_size));
      remains.red_first = !last.encoded && last.shape.channels == 3 && numbered->name.empty();
    }
    if (i < samples) continue;
    check_lmdb_large_value(file, meta, entry);  // it will be removed
    remains.surplus.emplace_back(key);
  }
  return remains;
}

// Checks that `data` holds the entries of `samples` samples numbered from `first`, and perhaps
// some that follow them. Removes the file if `samples` is 0. Throws Error if the file is damaged
// or was not written by our writer.
LmdbRemains look_at_lmdb_remains(const std::filesystem::path& data, std::uint64_t first,
                                 std::uint64_t samples) {
  if (samples == 0) {
    std::filesystem::remove(data);  // a file just created may hold anything
    return {};
  }
  const MappedFile file(data);
  try {
    const LmdbMeta meta = lmdb_meta(file.bytes(), std::nullopt);
    check_lmdb(file.bytes(), meta);
    const std::vector<LmdbEntry> entries = lmdb_entries(file.bytes(), meta);
    if (entries.size() < samples) {
      throw Error(join("holds ", entries.size(), " of the ", samples, " samples"));
    }
    return check_keys(file.bytes(), meta, entries, first, samples);
  } catch (const Error& error) {
    fail(data, "cannot resume this LMDB: ", error.what());
  }
}

class LmdbWriter final : public Writer {
 public:
  LmdbWriter(const std::filesystem::path& data, const WriterOptions& options)
      : path_(data), codec_(options.codec), first_(options.first) {
    total_ = options.sharding.samples != 0 ? options.sharding.samples : options.last;
    std::vector<std::string> surplus;
    if (options.resume != nullptr) {
      count_ = options.resume->samples;
      LmdbRemains remains = look_at_lmdb_remains(data, first_, count_);
      digits_ = remains.digits;
      if (remains.red_first) mean_layout_ = MeanLayout::planar_rgb;
      surplus = std::move(remains.surplus);
    }
    store_ = std::make_unique<LmdbStore>(data);
    for (; !surplus.empty(); surplus.pop_back()) store_->remove(surplus.back());
    store_->commit();
  }

  void add(const Sample& sample) override {
    assert(codec_ == nullptr || sample.codec == codec_);
    check(sample);
    if (digits_ == 0) digits_ = digits_for(sample);
    const std::uint64_t number = first_ + count_;
    key_.clear();
    fmt::format_to(std::back_inserter(key_), "{:0{}}", number, digits_);
    if (!sample.name.empty()) fmt::format_to(std::back_inserter(key_), "_{}", sample.name);
    if (key_.size() > max_key_bytes) {
      refuse(join("the key '", key_, "' has more than ", max_key_bytes, " bytes"));
    }
    write_value(sample);
    ++count_;
  }

  Bytes details() const override { return as_bytes(key_); }

  WriterState pause() override {
    store_->sync();
    return {count_, {}};
  }

  void finish(const MeanImage* mean) override {
    store_->close();
    if (mean != nullptr) write_mean(path_.parent_path() / "mean.binaryproto", *mean, mean_layout_);
  }

 private:
  // Rejects a sample that cannot be stored before the store reserves memory for it.
  void check(const Sample& sample) const {
    const std::uint64_t limit = digits_ == cifar_digits ? max_cifar_samples : max_usual_samples;
    if (first_ + count_ >= limit) {
      refuse(join("keys of ", digits_, " digits keep their order up to ", limit, " samples"));
    }
    if (sample.label < 0) refuse(join("the negative label ", sample.label, " is no class"));
    if (sample.codec == &raw_codec && sample.bytes.size() != sample.shape.bytes()) {
      refuse(join("raw pixels of ", sample.shape.height, "x", sample.shape.width, "x",
                  sample.shape.channels, " in ", sample.bytes.size(), " bytes"));
    }
    if (sample.bytes.size() >= max_image_bytes) {
      refuse(join("an image of ", sample.bytes.size(), " bytes; a Datum holds less than 2^31"));
    }
  }

  [[noreturn]] void refuse(std::string_view why) const {
    fail(path_, "sample ", first_ + count_, ": ", why);
  }

  int digits_for(const Sample& sample) const {
    const bool cifar = sample.codec == &raw_codec && sample.shape == cifar_shape &&
                       sample.name.empty() && total_ != 0 && total_ < max_cifar_samples;
    return cifar ? cifar_digits : usual_digits;
  }

  void write_value(const Sample& sample) {
    const bool raw = sample.codec == &raw_codec;
    if (raw) {
      frame_raw_datum(sample.shape, sample.label, frame_);
    } else {
      frame_encoded_datum(sample.bytes.size(), sample.label, frame_);
    }
    const std::size_t head = frame_.head.size();
    const std::size_t size = sample.bytes.size();
    const MutableBytes value = store_->put(key_, head + size + frame_.tail.size());
    std::ranges::copy(frame_.head, value.begin());
    const MutableBytes data = value.subspan(head, size);
    if (raw && sample.shape.channels == 3) {
      const bool named = !sample.name.empty();
      copy_planes(sample, named ? PixelOrder::planar_bgr : PixelOrder::planar_rgb, data);
      mean_layout_ = named ? MeanLayout::planar_bgr : MeanLayout::planar_rgb;
    } else {
      std::ranges::copy(sample.bytes, data.begin());
    }
    std::ranges::copy(frame_.tail, value.subspan(head + size).begin());
  }

  std::filesystem::path path_;
  const Codec* codec_;
  std::uint64_t first_;
  std::uint64_t total_ = 0;  // of the whole dataset; 0 if not known
  std::uint64_t count_ = 0;  // added
  int digits_ = 0;           // of the keys; 0 before the first one
  std::unique_ptr<LmdbStore> store_;
  std::string key_;
  DatumFrame frame_;
  MeanLayout mean_layout_ = MeanLayout::planar_bgr;  // the order in which Caffe decodes images
};

}  // namespace

std::unique_ptr<Writer> make_lmdb_writer(const std::filesystem::path& data,
                                         const WriterOptions& options) {
  return std::make_unique<LmdbWriter>(data, options);
}

}  // namespace feedrate::formats
