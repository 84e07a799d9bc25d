#pragma once
// A source is a published dataset in its packaging; opened, it is a stream of samples.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/kind.h"
#include "formats/sample.h"

namespace feedrate {

struct StreamInfo {
  std::uint64_t size = 0;  // samples to come; 0 when not known beforehand
  Shape shape;             // zero when samples differ
  std::uint32_t classes = 0;
  std::vector<std::string> class_names;  // empty when not known
};

/// Samples in the source's own order. One thread.
class SampleStream {
 public:
  virtual ~SampleStream() = default;
  virtual const StreamInfo& info() const = 0;
  /// Fills `sample`, valid until the next call; false at the end. Throws Error naming file, entry
  /// and offset on damage: an end that comes early is damage, not an end.
  virtual bool next(Sample& sample) = 0;
};

class Source : public Kind {
 public:
  using Kind::Kind;
  /// What `--split` may be, the first one the default: {"train", "test"}.
  virtual std::vector<std::string_view> splits() const = 0;
  /// `inputs`: archives, files or directories as published. Throws Error when a part is missing.
  virtual std::unique_ptr<SampleStream> open(std::span<const std::filesystem::path> inputs,
                                             std::string_view split) const = 0;
  /// The input files that `open` reads for that split: what the sidecar records.
  virtual std::vector<std::filesystem::path> files(std::span<const std::filesystem::path> inputs,
                                                   std::string_view split) const = 0;
};

/// All sources, in the order of help.
std::span<const Source* const> sources();
const Source& source(std::string_view name);

}  // namespace feedrate
