#pragma once
// A source is a published dataset in its packaging; opened, it is a stream of samples.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/base/kind.h"
#include "formats/sample.h"
#include "formats/sidecar.h"

namespace feedrate::converters {

struct StreamInfo {
  std::uint64_t size = 0;                 // number of samples; 0 if not known beforehand
  formats::Shape shape;                   // zero if samples differ
  const formats::Codec* codec = nullptr;  // of every sample; null if they may differ or are unknown
  std::string origin;  // name of the published dataset, if it is not the source's
  std::uint32_t classes = 0;
  formats::ClassNames class_names;
  std::string label_space = "0-based";
  std::vector<std::string> notes;  // for the sidecar: what a user of the dataset should know
  std::size_t earlier_notes = 0;   // of these, the first, which the sidecar of the source has
  bool labels_follow_class =
      false;  // lists of labels say nothing that the class does not: superclasses
};

/// Samples in the source's own order. For one thread. A sample may lack its codec (null: the bytes
/// show it) and its shape (zero: its header has it), so that the encoding threads do that work.
class SampleStream {
 public:
  virtual ~SampleStream() = default;
  virtual const StreamInfo& info() const = 0;
  /// Fills `sample`, which is valid until the next call; false at the end. Throws Error naming
  /// file, entry and offset on damage. Data that ends early is damage.
  virtual bool next(formats::Sample& sample) = 0;
  /// Why the sample from the last next() cannot be read; empty if it can. A stream that cannot
  /// continue after damage throws from next() instead.
  virtual std::string_view problem() const { return {}; }
  /// True if samples stay valid as long as the stream, so that they need not be copied.
  virtual bool lasting() const { return false; }
  /// Only if lasting(): the `bytes` of a sample are not needed soon. They stay valid, but their
  /// memory may be released meanwhile.
  virtual void give_back(formats::Bytes bytes) { (void)bytes; }
  /// True if seek() works; info().size is then known.
  virtual bool seekable() const { return false; }
  /// Makes sample `index` (0 … info().size) the next one. Only if seekable().
  virtual void seek(std::uint64_t index) { (void)index; }
};

class Source : public formats::Kind {
 public:
  using formats::Kind::Kind;
  /// The values of `--split` for these inputs, the default first: {"train", "test"}.
  virtual std::vector<std::string> splits(std::span<const std::filesystem::path> inputs) const = 0;
  /// True if annotation archives (`--boxes`) may be among the inputs.
  virtual bool takes_boxes() const { return false; }
  /// True if a list of labels (`--labels`) may be the last input.
  virtual bool takes_labels() const { return false; }
  /// True if everything in a directory among the inputs is read, not files of known names.
  virtual bool reads_everything() const { return false; }
  /// What tells the inputs apart where the names, sizes and times of their files do not; otherwise
  /// "".
  virtual std::string identity(std::span<const std::filesystem::path> inputs) const {
    (void)inputs;
    return {};
  }
  /// `inputs`: archives, files or directories as published. Throws Error if a part is missing.
  virtual std::unique_ptr<SampleStream> open(std::span<const std::filesystem::path> inputs,
                                             std::string_view split) const = 0;
  /// The input files that open() reads for that split.
  virtual std::vector<std::filesystem::path> files(std::span<const std::filesystem::path> inputs,
                                                   std::string_view split) const = 0;
  /// The same files as the sidecar lists them, each with its size and hash.
  virtual std::vector<formats::Sidecar::Input> inputs(std::span<const std::filesystem::path> inputs,
                                                      std::string_view split) const;
};

/// All sources, in the order of help.
std::span<const Source* const> sources();
const Source& source(std::string_view name);

}  // namespace feedrate::converters
