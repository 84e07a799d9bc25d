#pragma once
// A folder in a tar or zip, or one whose labels a list has, as a stream of samples.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "converters/source.h"

namespace feedrate::converters {

struct FolderInput {
  std::filesystem::path images;  // an archive or a directory
  std::filesystem::path labels;  // a list; empty if there is none
};

/// The splits that the paths of its images name. Reads the whole archive. Any thread.
std::vector<std::string> folder_splits(const FolderInput& input);
/// The directory that holds the images of that split.
std::filesystem::path folder_split_directory(const FolderInput& input, std::string_view split);
/// Reads the archive once for its paths, 80 bytes an image, and once for its samples, in its own
/// order. A directory is listed once, and its samples come as ImageFolder sorts them. Throws Error for
/// images without labels, and labels without images.
std::unique_ptr<SampleStream> open_folder_stream(const FolderInput& input, std::string_view split);

}  // namespace feedrate::converters
