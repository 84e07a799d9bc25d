#pragma once
// A dataset is ours, on disk: samples that can be read in any order. A writer makes one.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/sample.h"
#include "formats/sidecar.h"

namespace feedrate {

/// Memory a reader may grow and use for one sample at a time. One for each reading thread.
struct Scratch {
  Buffer bytes;
  std::string name;
};

struct DatasetInfo {
  std::filesystem::path path;
  std::string format;              // the container's name
  std::string codec;               // the first sample's codec ("mixed" is for verify to find)
  std::uint64_t size = 0;          // samples
  Shape shape;                     // of the first sample
  std::uint32_t classes = 0;       // 0 when the dataset does not say; see count_classes
  std::optional<Sidecar> sidecar;  // feedrate.json beside the data, when it is there
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

 protected:
  DatasetInfo info_;
};

/// Opens any dataset of ours, or a bare file of another tool, by looking at it.
/// Throws Error saying what was looked for when nothing fits.
std::unique_ptr<Dataset> open_dataset(const std::filesystem::path& path);

/// Largest label + 1: from the sidecar when it says, otherwise by reading every sample once.
std::uint32_t count_classes(const Dataset& dataset);

/// Mean image, per pixel and channel, HWC RGB or grey.
struct MeanImage {
  Shape shape;
  std::vector<double> values;  // shape.bytes() of them, 0 … 255
};

struct WriterOptions {
  std::string split = "train";   // names files where the format does so
  const Codec* codec = nullptr;  // the codec of every sample that will be added
};

/// Writes the files of one dataset into a directory that exists and is empty. One thread.
class Writer {
 public:
  virtual ~Writer() = default;
  /// Adds the next sample, encoded as WriterOptions::codec says. Throws Error when the disk
  /// refuses.
  virtual void add(const Sample& sample) = 0;
  /// Writes what is still open and closes. `mean` (or null) is the mean of the images added. A
  /// writer destroyed without finish leaves unusable files: the caller owns the directory.
  virtual void finish(const MeanImage* mean) = 0;
};

}  // namespace feedrate
