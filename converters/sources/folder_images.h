#pragma once
// The images of a folder that lies in a tar or zip, or on disk, one after the other.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "formats/base/bytes.h"

namespace feedrate::converters {

/// For one thread. Skips files that are no images and everything hidden, and counts them. Throws
/// Error naming file and entry for damage, for a link in an archive, and for a path with "..".
class FolderImages {
 public:
  virtual ~FolderImages() = default;

  /// Moves to the next image; false at the end.
  virtual bool next() = 0;
  /// Its path in the folder: "train/cats/a.jpg". A nested archive counts as a directory with its
  /// name: "train.tar" as "train".
  virtual const std::string& path() const = 0;
  /// Its bytes, in `storage`. Throws Error above 256 MiB, far more than any published image has.
  virtual formats::Bytes bytes(formats::Buffer& storage) = 0;

  /// Files skipped so far, and the first of them.
  std::uint64_t passed_over = 0;
  std::string first_passed_over;

  /// Directories seen so far that no image may have told of: named by an entry of their own, or by
  /// what was passed over in them. None is hidden.
  std::set<std::string> directories;
};

/// The bytes of an image on disk, in `storage`. Throws Error above 256 MiB, and for what is no file.
formats::Bytes read_folder_image(const std::filesystem::path& file, formats::Buffer& storage);

/// Of an archive: its own order, read as a stream. Of a directory: sorted by path.
std::unique_ptr<FolderImages> open_folder_images(const std::filesystem::path& path);

}  // namespace feedrate::converters
