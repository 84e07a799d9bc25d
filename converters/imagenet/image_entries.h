#pragma once
// The images among an archive's entries, with what else may be there told apart.

#include <cstdint>
#include <string>
#include <string_view>

#include "converters/archive.h"

namespace feedrate::converters {

/// The problem of an image without bytes.
inline constexpr std::string_view empty_image = "the image is empty";

/// Throws Error when the archive passed over a link or a device.
void expect_no_links(const Archive& archive);

/// One thread. Passes over what systems leave behind (".DS_Store", "._name") and counts it. Throws
/// Error naming the entry for anything else that is no image by its name, for a link or a device,
/// and for a name that no list could hold. Entries' directories are not looked at, so a path that
/// leads out of the archive leads nowhere.
class ImageEntries {
 public:
  /// `archive` and `clutter`, which is counted up, must outlive this.
  ImageEntries(Archive& archive, std::uint64_t& clutter) : archive_(archive), clutter_(clutter) {}

  /// Moves to the next image; false at the end.
  bool next();
  /// "n01440764_96.JPEG"
  std::string_view name() const { return name_; }
  std::string place() const { return archive_.place(); }
  /// The image's bytes: a view of the archive where there is one, otherwise read into `storage`.
  /// Throws Error when they are more than any image of these sets has by far.
  formats::Bytes bytes(formats::Buffer& storage);

 private:
  Archive& archive_;
  std::uint64_t& clutter_;
  std::string name_;
};

}  // namespace feedrate::converters
