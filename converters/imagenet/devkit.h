#pragma once
// The development kit of ILSVRC2012: which class each validation image belongs to.
//
//   data/ILSVRC2012_validation_ground_truth.txt    one ILSVRC2012_ID a line, in the order of the
//                                                  images' names
//
// Its meta.mat, which says what the ids mean, is not read: imagenet_classes.h has that table.

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace feedrate::converters {

inline constexpr std::size_t imagenet_val_images = 50'000;

struct Devkit {
  std::vector<std::int32_t> val_labels;  // of ILSVRC2012_val_00000001 …
  std::filesystem::path file;            // that it was read from
};

/// True when a path or an entry's name means the ground truth.
bool is_ground_truth(std::string_view name);

/// From ILSVRC2012_devkit_t12.tar.gz or the text file itself; of several the last one counts. One
/// thread. Throws Error naming the file and the line when it is missing or not that of ILSVRC2012.
Devkit read_devkit(const std::vector<std::filesystem::path>& inputs);

}  // namespace feedrate::converters
