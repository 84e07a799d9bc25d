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

/// What was met while reading, for the notes of a dataset.
struct BoxCounts {
  std::uint64_t annotations = 0;  // XML files
  std::uint64_t boxes = 0;        // kept
  std::uint64_t degenerate = 0;   // left out: without area, or outside of the image
  std::uint64_t foreign = 0;      // left out: of another of ImageNet's 1,000 classes
  std::uint64_t repeated = 0;     // annotations of an image that had one: the first one counts
  std::uint64_t other_files = 0;  // files that are no XML
};

/// Once made, read-only: any thread.
class Boxes {
 public:
  /// Reads ILSVRC2012_bbox_train_v2.tar.gz, ILSVRC2012_bbox_val_v3.tgz or the like, and directories
  /// of XML files, in this order. An image is named by its XML's base name, not by what is written
  /// inside, which is "%s" in some. Throws Error naming file, entry and byte on damage.
  void read(const std::filesystem::path& input);

  /// Of an image named "n01440764_96.JPEG", with or without directories and extension; empty where
  /// none are known. Valid as long as this, until the next read().
  std::span<const formats::Box> of(std::string_view image) const;
  const BoxCounts& counts() const { return counts_; }

 private:
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  // Lets a name be looked up without a copy of it.
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
