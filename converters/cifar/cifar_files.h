#pragma once
// Finds a split of CIFAR among the inputs: unpacked files, or an archive that holds them.

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "converters/cifar/cifar_layout.h"

namespace feedrate::converters {

/// One place that holds the dataset.
struct CifarPlace {
  CifarPackaging packaging = CifarPackaging::binary;
  std::filesystem::path archive;                            // empty: use the files below
  std::map<std::string_view, std::filesystem::path> files;  // part → file

  /// Its name in errors and notes.
  std::string name() const;
};

struct CifarChoice {
  CifarPlace place;
  std::vector<std::string> notes;  // which other places were not read
};

/// Searches the inputs (directories, archives, batch files) for that split. Of several places it
/// takes the fastest to read: files before archives, binary before python. Throws Error if there is
/// none, saying what was found and what is missing, or if two are equally good.
CifarChoice find_cifar(const CifarLayout& layout, std::span<const std::filesystem::path> inputs,
                       std::string_view split);

}  // namespace feedrate::converters
