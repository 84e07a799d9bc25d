#pragma once
// A dataset on disk, whose samples can be read in any order, and the writer that makes one.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/io/late_bytes.h"
#include "formats/sample.h"
#include "formats/sidecar.h"

namespace feedrate::formats {

class StandIn;

/// Memory that a reader grows and uses for one sample at a time. One for each reading thread.
struct Scratch {
  Buffer bytes;
  Held held;  // of late bytes, those of the sample
  std::string name;
  std::vector<Box> boxes;
  std::vector<float> labels;
};

/// A fault in a dataset, as `verify` reports it.
struct Finding {
  std::string place;    // file, sample, offset
  std::string problem;  // a sentence
};

struct DatasetInfo {
  std::filesystem::path path;
  std::vector<std::filesystem::path> files;  // that hold samples; empty where each sample is a file
  std::string format;                        // the container's name
  std::string codec;               // of the first sample that can be read (verify finds the others)
  std::uint64_t size = 0;          // samples
  Shape shape;                     // of that sample
  std::uint32_t classes = 0;       // 0 when not stated; see count_classes
  ClassNames class_names;          // empty when not known
  std::optional<Sidecar> sidecar;  // feedrate.json beside the data, when it is there
  std::vector<std::string> notes = {};  // what reading it assumed, or passed over, as sentences
  std::string slow_shuffle = {};        // why a shuffled order is slow to read; empty: it is not
  std::shared_ptr<const StandIn> stand_in = {};  // where the files are a server's, else null

  bool is_remote() const { return stand_in != nullptr; }
};

/// Where a sample is stored.
struct SamplePlace {
  std::filesystem::path file;
  std::uint64_t offset = 0;  // in bytes; 0 where the sample has a file of its own
};

class Dataset;

/// The dataset that holds a sample, and the sample's index there.
struct LocatedSample {
  const Dataset& dataset;
  std::size_t member = 0;  // of Dataset::members(), where there are any
  std::uint64_t index = 0;
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  const DatasetInfo& info() const { return info_; }
  /// Says that the files are a server's, and keeps what stands in for them. Before any thread reads.
  void keep(std::shared_ptr<const StandIn> stand_in) { info_.stand_in = std::move(stand_in); }
  std::uint64_t size() const { return info_.size; }

  /// The datasets that this one joins, in order; none for a dataset of its own. Any thread.
  virtual std::span<const std::shared_ptr<const Dataset>> members() const { return {}; }
  /// Which of them holds the sample at `index`; this one where there are none. Any thread.
  virtual LocatedSample locate(std::uint64_t index) const { return {*this, 0, index}; }

  /// The sample at `index` (0 … size()-1), in the dataset's own order. Any number of threads, in
  /// any order; each brings its own scratch. The sample is valid until that scratch is used again.
  /// Throws Error naming file, index and offset on damage.
  virtual Sample read(std::uint64_t index, Scratch& scratch) const = 0;

  /// The label of read(index), for less where the format keeps labels apart from images.
  virtual std::int32_t label(std::uint64_t index, Scratch& scratch) const {
    return read(index, scratch).label;
  }

  /// Asks the system to load what read(index) needs, and does not wait for it: a hint, which
  /// changes no result and never throws. Any thread. False when hints are pointless for every
  /// index, because the samples are in memory anyway.
  virtual bool look_ahead(std::uint64_t index) const {
    (void)index;
    return false;
  }

  /// Starts to bring what read() of these indices needs first from memory into the processor's
  /// cache. A hint like look_ahead(), without a system call: it loads nothing from disk. Any thread.
  virtual void prefetch(std::span<const std::uint64_t> indices) const { (void)indices; }

  /// Where the sample at `index` is stored, even if it cannot be read. Any thread.
  virtual SamplePlace place(std::uint64_t index) const {
    (void)index;
    return {info_.path, 0};
  }

  /// Throws Error naming the file when a mapped file has been changed since the dataset was opened:
  /// samples may mix old and new bytes. Any thread.
  virtual void expect_unchanged() const {}

  /// What is stored beside the image of a sample, in its bytes: a key, names, boxes, more labels.
  /// Empty if the container stores none, or protects them with a checksum. Valid like a sample.
  virtual Bytes details(std::uint64_t index, Scratch& scratch) const {
    (void)index, (void)scratch;
    return {};
  }

  /// Throws Error if `sample`, which read(index) returned, is not what was written there, as far as
  /// a list of digests beside the data tells. Any thread.
  virtual void expect_as_written(std::uint64_t index, const Sample& sample) const {
    (void)index, (void)sample;
  }

  /// All indices in the order in which the samples were written; empty if that is their own order,
  /// nothing if it is not known.
  virtual std::optional<std::vector<std::uint64_t>> written_order() const {
    return std::vector<std::uint64_t>();
  }

  /// Checks what reading the samples does not cover: index and list files, bytes between records.
  /// Calls `found` for each fault, in the calling thread.
  virtual void audit(const std::function<void(Finding)>& found) const { (void)found; }

 protected:
  DatasetInfo info_;
};

/// Opens any dataset of Feedrate's, or a bare file of another tool, by looking at it. Throws Error
/// that says what was looked for when nothing fits, and that of expect_whole().
std::unique_ptr<Dataset> open_dataset(const std::filesystem::path& path);
/// The same without expect_whole(): for what says what is wrong with a dataset, or mends it.
std::unique_ptr<Dataset> open_as_found(const std::filesystem::path& path);

/// Throws Error where the path is a URL: for what needs the files themselves.
void expect_local(const std::filesystem::path& path);

/// Throws Error when a dataset holds another number of samples than its sidecar states: some
/// formats look whole when files, or whole records at the end, are gone. A file that was opened by
/// itself passes where the directory does not open as just this file: the sidecar describes that.
void expect_whole(const DatasetInfo& info);

/// Largest label + 1: from the sidecar when it states it, otherwise by reading every sample once.
std::uint32_t count_classes(const Dataset& dataset);

/// The files that hold a dataset's samples, each once: one, a few, or one for each sample.
std::vector<std::filesystem::path> sample_files(const Dataset& dataset);

/// Mean image, per pixel and channel, HWC RGB or grey.
struct MeanImage {
  Shape shape;
  std::vector<double> values;  // shape.bytes() of them, 0 … 255
};

/// How `samples` of a dataset are split into `count` shards: runs of nearly equal length, in order.
struct Sharding {
  std::uint32_t count = 1;
  std::uint64_t samples = 0;  // of the whole dataset; may be 0 (unknown) for one shard

  /// Index of the first sample of `shard` (0 … count).
  std::uint64_t begin(std::uint32_t shard) const {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(samples) * shard / count);
  }
};

/// How far a writer has come: enough for another one to continue from there.
struct WriterState {
  std::uint64_t samples = 0;  // added so far
  /// Files that are being appended to, relative to the directory, and their sizes.
  std::vector<std::pair<std::string, std::uint64_t>> files;
};

struct WriterOptions {
  std::string split = "train";          // part of file names where the format has one
  const Codec* codec = nullptr;         // of every sample; null: each sample brings its own
  ClassNames classes = {};              // for formats that write them beside the labels
  Sharding sharding = {};               // where Container::shardable
  std::uint64_t first = 0;              // index of the first sample to add, where a shard starts
  std::uint64_t last = 0;               // one past the last sample to add; 0: the dataset's end
  bool gzip = false;                    // compress whole files, where Container::compressible
  const WriterState* resume = nullptr;  // continue in a directory that holds a part
};

/// Writes the files of one dataset into a directory that exists and is empty. One thread.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Adds the next sample, encoded as WriterOptions::codec says. Throws Error when writing fails,
  /// and for a sample that the format cannot hold.
  virtual void add(const Sample& sample) = 0;
  /// What Dataset::details will return for the sample added last. Valid until the next add().
  virtual Bytes details() const { return {}; }
  /// Hands everything added so far to the system. The result, given as WriterOptions::resume with
  /// otherwise equal options, lets another writer continue, even after this one was killed.
  virtual WriterState pause() = 0;
  /// Writes what is still open and closes the files. `mean` (or null) is the mean of the images
  /// added. A writer destroyed without finish() leaves unusable files: the caller owns the
  /// directory.
  virtual void finish(const MeanImage* mean) = 0;
};

}  // namespace feedrate::formats
