#pragma once
// The files of a folder of classes, in the order of torchvision's ImageFolder: classes, which are
// the sub-directories (hidden ones too, where they hold images), by name; in each class all images
// below it, by directory, then by name.
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
    std::uint64_t path = 0;  // in `paths`, relative to the folder, zero-terminated
    std::int32_t label = 0;  // position of its class
  };
  std::vector<std::string> classes;  // names of the sub-directories
  std::string paths;
  std::vector<Image> images;

  std::uint64_t empty_classes = 0;
  std::string first_empty_class;

  // Files in classes that are not named like images, and everything else hidden (".x").
  std::uint64_t passed_over = 0;
  std::string first_passed_over;

  const char* path(const Image& image) const { return paths.data() + image.path; }
};

/// One pass over the directories. No file is opened or examined, and links that are named like
/// images count as images. Throws Error naming a directory that cannot be read.
FolderFiles list_folder(const std::filesystem::path& folder);

/// True for the extensions that ImageFolder reads: ".jpg", ".JPEG", ".png", ".ppm", ".bmp", ".pgm",
/// ".tif", ".tiff", ".webp".
bool has_image_extension(std::string_view file_name);

/// What directories of splits are called, the order of splits.
inline constexpr std::string_view split_words[] = {"train", "val",        "test",    "training",
                                                   "valid", "validation", "testing", "eval"};
/// The split that a directory of this name holds, in any case of its letters: "Val" → "val"; empty
/// for another name.
std::string_view split_named(std::string_view directory);

/// True when at least one sub-directory holds an image, at any depth, and every other one does too or
/// is empty. A single directory, or one named like a split, needs an image directly in it. Looks at the
/// first few names in each; never throws.
bool looks_like_classes(const std::filesystem::path& folder);
/// The first directory with files, but without images, that keeps a folder from looking like classes; ""
/// where there is none, or where such directories are half of all: a folder of other things.
std::string directory_beside_classes(const std::filesystem::path& folder);

}  // namespace feedrate::formats
