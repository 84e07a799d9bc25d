#pragma once
// A container is how samples are kept on disk. Stateless; a registry like every kind.

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "formats/base/kind.h"
#include "formats/dataset.h"

namespace feedrate::formats {

class Container : public Kind {
 public:
  using Kind::Kind;

  /// True when `path` (a directory or a file) looks like this container. Cheap; never throws for a
  /// file of another kind.
  virtual bool knows(const std::filesystem::path& path) const = 0;
  /// Opens for reading. Throws Error on damage.
  virtual std::unique_ptr<Dataset> open(const std::filesystem::path& path) const = 0;
  /// Starts a new dataset in `directory`, which exists and is empty (or goes on, as options.resume
  /// says).
  virtual std::unique_ptr<Writer> create(const std::filesystem::path& directory,
                                         const WriterOptions& options) const = 0;
  /// What the owners of this container read out of it, and `packed` where it is not meant for other
  /// tools alone; others are refused with that sentence.
  virtual bool accepts(const Codec& codec) const = 0;
  /// True when `--shards` may ask for more than one.
  virtual bool shardable() const { return false; }
  /// True when whole files may be gzip.
  virtual bool compressible() const { return false; }
  /// False when samples come back in another order than they were written: class by class.
  virtual bool keeps_order() const { return true; }
  /// What `--encode` means when it is not given and the source's bytes cannot be kept.
  virtual const Codec& default_codec() const = 0;
  /// True when finish() wants the mean image.
  virtual bool wants_mean() const { return false; }
  /// Writes the index files beside the data at `path` anew, from the data alone, and returns them.
  /// Throws Error on damage, and for a container that keeps no index.
  virtual std::vector<std::filesystem::path> write_index(const std::filesystem::path& path) const;
};

/// All containers, in the order of help.
std::span<const Container* const> containers();
/// By name; throws Error with the nearest name.
const Container& container(std::string_view name);
/// The one that the dataset at `path` is kept in, by looking at it. Throws Error saying what was
/// looked for when none fits.
const Container& container_at(const std::filesystem::path& path);

}  // namespace feedrate::formats
