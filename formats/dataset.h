#pragma once
// A dataset is ours, on disk: samples that can be read in any order. A writer makes one.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/sample.h"
#include "formats/sidecar.h"

namespace feedrate::formats {

/// Memory a reader may grow and use for one sample at a time. One for each reading thread.
struct Scratch {
  Buffer bytes;
  std::string name;
  std::vector<Box> boxes;
  std::vector<float> labels;
};

/// Something wrong with a dataset, as `verify` tells it.
struct Finding {
  std::string place;    // file, sample, offset
  std::string problem;  // a sentence
};

struct DatasetInfo {
  std::filesystem::path path;
  std::vector<std::filesystem::path> files;  // that hold samples; empty where each is a file
  std::string format;                        // the container's name
  std::string codec;               // of the first sample that can be read (verify finds the others)
  std::uint64_t size = 0;          // samples
  Shape shape;                     // of that sample
  std::uint32_t classes = 0;       // 0 when the dataset does not say; see count_classes
  ClassNames class_names;          // empty when not known
  std::optional<Sidecar> sidecar;  // feedrate.json beside the data, when it is there
};

/// Where a sample is kept.
struct SamplePlace {
  std::filesystem::path file;
  std::uint64_t offset = 0;  // of what is kept for it, in bytes; 0 where it has a file of its own
};

class Dataset {
 public:
  virtual ~Dataset() = default;
  const DatasetInfo& info() const { return info_; }
  std::uint64_t size() const { return info_.size; }

  /// The sample at `index` (0 … size()-1), in the dataset's own order. Any thread, any order, at
  /// the same time; each thread brings its own scratch. The sample is valid until that scratch is
  /// used again. Throws Error naming file, index and offset on damage.
  virtual Sample read(std::uint64_t index, Scratch& scratch) const = 0;

  /// Asks the system to have what read(index) needs in memory soon, and does not wait for it: a
  /// hint, which changes no result and never throws. Any thread. False, for any index, where there
  /// is nothing to ask for: the samples are in memory anyway.
  virtual bool look_ahead(std::uint64_t index) const {
    (void)index;
    return false;
  }

  /// Where the sample at `index` is kept, also when it cannot be read. Any thread.
  virtual SamplePlace place(std::uint64_t index) const {
    (void)index;
    return {info_.path, 0};
  }

  /// Throws Error naming the file when a file that is read in place has been written to since the
  /// dataset was opened: samples may be a mixture of both. Any thread.
  virtual void expect_unchanged() const {}

  /// Checks what reading the samples does not look at: index and list files, bytes between records.
  /// Calls `found` for each fault, from this thread.
  virtual void audit(const std::function<void(Finding)>& found) const { (void)found; }

 protected:
  DatasetInfo info_;
};

/// Opens any dataset of ours, or a bare file of another tool, by looking at it.
/// Throws Error saying what was looked for when nothing fits.
std::unique_ptr<Dataset> open_dataset(const std::filesystem::path& path);

/// Largest label + 1: from the sidecar when it says, otherwise by reading every sample once.
std::uint32_t count_classes(const Dataset& dataset);

/// The files that hold a dataset's samples, each once: one or a few, or one a sample.
std::vector<std::filesystem::path> sample_files(const Dataset& dataset);

/// Mean image, per pixel and channel, HWC RGB or grey.
struct MeanImage {
  Shape shape;
  std::vector<double> values;  // shape.bytes() of them, 0 … 255
};

/// How `samples` of a dataset lie in `count` shards: runs of nearly equal length, in order.
struct Sharding {
  std::uint32_t count = 1;
  std::uint64_t samples = 0;  // of the whole dataset; need not be known for one shard

  /// Index of the first sample of `shard` (0 … count).
  std::uint64_t begin(std::uint32_t shard) const {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(samples) * shard / count);
  }
};

/// How far a writer has come: enough for another one to go on from there.
struct WriterState {
  std::uint64_t samples = 0;  // added by now
  /// Files that are being appended to, named from the directory, and their sizes.
  std::vector<std::pair<std::string, std::uint64_t>> files;
};

struct WriterOptions {
  std::string split = "train";          // names files where the format does so
  const Codec* codec = nullptr;         // of every sample to come; null: each brings its own
  ClassNames classes = {};              // for formats that write them beside the labels
  Sharding sharding = {};               // where Container::shardable
  std::uint64_t first = 0;              // index of the first sample added: that of a shard's start
  std::uint64_t last = 0;               // one past the last one to come; 0: of the whole dataset
  bool gzip = false;                    // compress whole files, where Container::compressible
  const WriterState* resume = nullptr;  // go on in a directory that holds a part
};

/// Writes the files of one dataset into a directory that exists and is empty. One thread.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Adds the next sample, encoded as WriterOptions::codec says. Throws Error when the disk
  /// refuses, and for a sample that the format cannot hold.
  virtual void add(const Sample& sample) = 0;
  /// Hands everything added so far to the system. The result, given as WriterOptions::resume with
  /// otherwise equal options, lets another writer go on, also after this one was killed.
  virtual WriterState pause() = 0;
  /// Writes what is still open and closes. `mean` (or null) is the mean of the images added. A
  /// writer destroyed without finish leaves unusable files: the caller owns the directory.
  virtual void finish(const MeanImage* mean) = 0;
};

}  // namespace feedrate::formats
