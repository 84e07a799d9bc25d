#pragma once
// A container defines how samples are stored on disk. Stateless: any thread.

#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "formats/base/kind.h"
#include "formats/codec.h"
#include "formats/dataset.h"

namespace feedrate::formats {

class Container : public Kind {
 public:
  using Kind::Kind;

  /// True when `path` (a directory or a file) looks like this container. Cheap; never throws for a
  /// path of another kind.
  virtual bool knows(const std::filesystem::path& path) const = 0;
  /// Opens for reading. Throws Error on damage.
  virtual std::unique_ptr<Dataset> open(const std::filesystem::path& path) const = 0;
  /// False for a format of others that is only read: create() throws Error.
  virtual bool writes() const { return true; }
  /// Starts a new dataset in `directory`, which exists and is empty, or continues one where
  /// options.resume is set.
  virtual std::unique_ptr<Writer> create(const std::filesystem::path& directory,
                                         const WriterOptions& options) const = 0;
  /// True for the codecs that the tools owning this format can read (by default PNG, JPEG and WebP), and
  /// for `packed` where the container also serves Feedrate alone. `convert` refuses others.
  virtual bool accepts(const Codec& codec) const;
  /// True when `--shards` may be greater than one.
  virtual bool shardable() const { return false; }
  /// True when whole files may be compressed with gzip.
  virtual bool compressible() const { return false; }
  /// False when samples are read in another order than they were written: class by class.
  virtual bool keeps_order() const { return true; }
  /// The codec used when `--encode` is not given and the source's bytes cannot be kept.
  virtual const Codec& default_codec() const { return png_codec; }
  /// True when Writer::finish() needs the mean image.
  virtual bool wants_mean() const { return false; }
  /// Rebuilds the index files beside the data at `path` from the data alone, and returns their
  /// paths. Throws Error on damage, and for a container without index files.
  virtual std::vector<std::filesystem::path> write_index(const std::filesystem::path& path) const;
  /// True when samples are ranges of a few large files, so that they can be read from a server.
  virtual bool reads_ranges() const { return false; }
  /// True when samples keep their bounding boxes. `convert` refuses others.
  virtual bool holds_boxes() const { return false; }
  /// True when samples keep lists of labels, fractions among them. `convert` refuses others.
  virtual bool holds_label_lists() const { return false; }
};

/// All containers, in the order of help.
std::span<const Container* const> all_containers();
/// Those that are also written.
std::span<const Container* const> containers();
/// Any by its name; throws Error with the nearest name.
const Container& container(std::string_view name);
/// One that is written, by its name; throws Error that says which are.
const Container& container_to_write(std::string_view name);
/// The container of the dataset at `path`, found by looking at its files. Throws Error that says
/// what was looked for when none fits.
const Container& container_at(const std::filesystem::path& path);

}  // namespace feedrate::formats
