#pragma once
// Sorts the inputs into the parts of ILSVRC2012. The names of its entries show what an archive
// holds, not its own name.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate::converters {

/// A tar of training images.
struct TrainTar {
  std::filesystem::path file;
  std::string wnid;  // of the class whose images it holds; empty: it holds the tars of classes
};

struct ImagenetFiles {
  std::vector<TrainTar> train;
  std::vector<std::filesystem::path> val;
  std::vector<std::filesystem::path> devkit;  // tars that hold the ground truth, or its text
  std::vector<std::filesystem::path> boxes;   // archives or directories of annotations
};

/// Takes archives, files and directories of them. In a directory, files are visited in the order of
/// their names and unknown ones are ignored. Throws Error for any other input that is not part of
/// ILSVRC2012.
ImagenetFiles find_imagenet_files(std::span<const std::filesystem::path> inputs);

/// True for "ILSVRC2012_val_00000001.JPEG".
bool is_val_image(std::string_view name);

/// The part of a path after its last slash.
std::string_view base_name(std::string_view path);

}  // namespace feedrate::converters
