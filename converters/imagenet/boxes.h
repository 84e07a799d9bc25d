#pragma once
// ImageNet's bounding boxes by image, from their archives.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/sample.h"

namespace feedrate::converters {

/// Counted while reading, for the notes of a dataset.
struct BoxCounts {
  std::uint64_t annotations = 0;  // XML files
  std::uint64_t boxes = 0;        // kept
  std::uint64_t degenerate = 0;   // left out: without area or outside the image
  std::uint64_t foreign = 0;      // left out: labelled with a class other than the image's
  std::uint64_t repeated = 0;     // left out: further annotations of an image
  std::uint64_t other_files = 0;  // files that are not XML
};

/// After the last read(), any number of threads may use it.
class Boxes {
 public:
  /// Adds ILSVRC2012_bbox_train_v2.tar.gz, ILSVRC2012_bbox_val_v3.tgz or the like, or a directory
  /// of XML files. The base name of an XML file names its image; the name inside is "%s" in some.
  /// Throws Error naming file, entry and byte on damage.
  void read(const std::filesystem::path& input);

  /// The boxes of an image named "n01440764_96.JPEG", with or without directories and extension;
  /// empty if there are none. Valid until the next read().
  std::span<const formats::Box> of(std::string_view image) const;
  const BoxCounts& counts() const { return counts_; }

 private:
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  // Looks up a string_view without copying it.
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  void add(std::string_view path, formats::Bytes xml, const std::string& place);
  void read_directory(const std::filesystem::path& directory);

  std::unordered_map<std::string, Range, Hash, std::equal_to<>> of_;
  std::vector<formats::Box> boxes_;
  BoxCounts counts_;
};

}  // namespace feedrate::converters
