#pragma once
// The development kit of ILSVRC2012: the class of each validation image.
//
//   data/ILSVRC2012_validation_ground_truth.txt    one ILSVRC2012_ID per line, in the order of the
//                                                  names of the images
//
// Its meta.mat, the table of ids and classes, is not read: imagenet_classes.h has that table.

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace feedrate::converters {

inline constexpr std::size_t imagenet_val_images = 50'000;

struct Devkit {
  std::vector<std::int32_t> val_labels;  // of ILSVRC2012_val_00000001, …
  std::filesystem::path file;            // where the labels were read
};

/// True if this is the path or the entry name of the ground truth.
bool is_ground_truth(std::string_view name);

/// Reads ILSVRC2012_devkit_t12.tar.gz or the text file itself; of several, the last one counts.
/// Throws Error naming the file and the line if the ground truth is missing or not ILSVRC2012's.
Devkit read_devkit(const std::vector<std::filesystem::path>& inputs);

}  // namespace feedrate::converters
