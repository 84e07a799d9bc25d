#pragma once
// The images among the entries of an archive.

#include <cstdint>
#include <string>
#include <string_view>

#include "converters/archive.h"

namespace feedrate::converters {

/// The problem of an image without bytes.
inline constexpr std::string_view empty_image = "the image is empty";

/// Throws Error if the archive skipped a link or a device.
void expect_no_links(const Archive& archive);

/// For one thread. Skips and counts the files that operating systems leave behind (".DS_Store",
/// "._name"). Throws Error naming the entry for anything else without the name of an image, for a
/// link or a device, and for a name with control characters. Ignores the directories of entries, so
/// a path such as "../../name" is harmless.
class ImageEntries {
 public:
  /// Adds to `clutter` for each file skipped. Both must outlive this object.
  ImageEntries(Archive& archive, std::uint64_t& clutter) : archive_(archive), clutter_(clutter) {}

  /// Moves to the next image; false at the end.
  bool next();
  /// The base name: "n01440764_96.JPEG".
  std::string_view name() const { return name_; }
  std::string place() const { return archive_.place(); }
  /// The bytes of the image: a view of the archive if there is one, else read into `storage`.
  /// Throws Error above 256 MiB, far more than any published image has.
  formats::Bytes bytes(formats::Buffer& storage);

 private:
  Archive& archive_;
  std::uint64_t& clutter_;
  std::string name_;
};

}  // namespace feedrate::converters
