#pragma once
// Which of the inputs hold what of ILSVRC2012. An archive is known by the names of its entries, not
// by its own.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate::converters {

/// A tar of training images.
struct TrainTar {
  std::filesystem::path file;
  std::string wnid;  // of the class whose images it holds; empty: it holds tars of classes
};

struct ImagenetFiles {
  std::vector<TrainTar> train;
  std::vector<std::filesystem::path> val;
  std::vector<std::filesystem::path> devkit;  // tars that hold the ground truth, or its text
  std::vector<std::filesystem::path> boxes;   // archives or directories of annotations
};

/// Sorts out archives, files, and directories that hold such (of these only what is known by its
/// name or content, in the order of names). Throws Error for an input that is none of ILSVRC2012's.
ImagenetFiles find_imagenet_files(std::span<const std::filesystem::path> inputs);

/// True for "ILSVRC2012_val_00000001.JPEG".
bool is_val_image(std::string_view name);

/// Names that systems leave in directories and archives: ".DS_Store", "._anything", "Thumbs.db".
bool is_clutter(std::string_view name);

/// What stands behind the last slash.
std::string_view base_name(std::string_view path);

}  // namespace feedrate::converters
