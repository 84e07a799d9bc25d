#pragma once
// The files of a folder of classes, in the order of torchvision's ImageFolder: a class for each
// sub-directory, by name; in it every image below, by directory, then by name.
//
//   cats/a.jpg  cats/more/b.png  dogs/c.jpg            names are compared byte by byte

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate::formats {

struct FolderFiles {
  struct Image {
    std::uint64_t path = 0;  // in `paths`, seen from the folder, ended by a zero
    std::int32_t label = 0;
  };
  std::vector<std::string> classes;  // names of the sub-directories
  std::string paths;
  std::vector<Image> images;

  // Files in classes that are no images by their name, and whatever is hidden (".x").
  std::uint64_t passed_over = 0;
  std::string first_passed_over;

  const char* path(const Image& image) const { return paths.data() + image.path; }
};

/// One pass over the directories; no file is opened or looked at, links that are called like images
/// are taken for images. Throws Error naming a directory that cannot be read.
FolderFiles list_folder(const std::filesystem::path& folder);

/// What ImageFolder reads: ".jpg", ".JPEG", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff",
/// ".webp".
bool has_image_extension(std::string_view file_name);

/// True when every sub-directory that holds something holds an image, and one does. Looks at the
/// first few names in each; never throws.
bool looks_like_classes(const std::filesystem::path& folder);

}  // namespace feedrate::formats
