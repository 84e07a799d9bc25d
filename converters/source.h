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
  std::uint64_t size = 0;  // samples to come; 0 when not known beforehand
  formats::Shape shape;    // zero when samples differ
  const formats::Codec* codec =
      nullptr;         // of every sample; null when they may differ or need a look
  std::string origin;  // the published dataset, where the source is not its own name
  std::uint32_t classes = 0;
  formats::ClassNames class_names;
  std::string label_space = "0-based";
  std::vector<std::string> notes;  // what a reader of the dataset should know
};

/// Samples in the source's own order. One thread. A sample may come without its codec (null: to be
/// told from its bytes) and without its shape (zero: to be read from its header), so that the
/// threads that encode can do that work.
class SampleStream {
 public:
  virtual ~SampleStream() = default;
  virtual const StreamInfo& info() const = 0;
  /// Fills `sample`, valid until the next call; false at the end. Throws Error naming file, entry
  /// and offset on damage: an end that comes early is damage, not an end.
  virtual bool next(formats::Sample& sample) = 0;
  /// Why the sample just handed out cannot be read; empty when it can. A stream that cannot go on
  /// behind damage throws from next() instead.
  virtual std::string_view problem() const { return {}; }
  /// True when samples stay valid as long as the stream: then they can be collected without a copy.
  virtual bool lasting() const { return false; }
  /// Of a stream whose samples last: `bytes` of one are not needed soon. They stay valid, but memory
  /// need not hold them meanwhile.
  virtual void give_back(formats::Bytes bytes) { (void)bytes; }
  /// True where next() can be sent to any sample, info().size being known.
  virtual bool seekable() const { return false; }
  /// The next sample is number `index` (0 … info().size). Only where seekable().
  virtual void seek(std::uint64_t index) { (void)index; }
};

class Source : public formats::Kind {
 public:
  using formats::Kind::Kind;
  /// What `--split` may be for these inputs, the first one the default: {"train", "test"}.
  virtual std::vector<std::string> splits(std::span<const std::filesystem::path> inputs) const = 0;
  /// True when annotation archives (`--boxes`) may be among the inputs.
  virtual bool takes_boxes() const { return false; }
  /// `inputs`: archives, files or directories as published. Throws Error when a part is missing.
  virtual std::unique_ptr<SampleStream> open(std::span<const std::filesystem::path> inputs,
                                             std::string_view split) const = 0;
  /// The input files that `open` reads for that split.
  virtual std::vector<std::filesystem::path> files(std::span<const std::filesystem::path> inputs,
                                                   std::string_view split) const = 0;
  /// What the sidecar says of them: each with its size and hash.
  virtual std::vector<formats::Sidecar::Input> inputs(std::span<const std::filesystem::path> inputs,
                                                      std::string_view split) const;
};

/// All sources, in the order of help.
std::span<const Source* const> sources();
const Source& source(std::string_view name);

}  // namespace feedrate::converters
