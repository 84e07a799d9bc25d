#pragma once
// The devkit of a made ImageNet, in the layout of the published one.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace feedrate::converters {

/// What the made images are, by class: places among the sorted wnids.
struct MadeLabels {
  std::vector<std::uint64_t> train_images;  // of each of the 1,000 classes
  std::vector<std::int32_t> val;            // of each of the 50,000 validation images
};

/// Writes ILSVRC2012_devkit_t12.tar.gz: meta.mat with 1,000 classes under ids in an order of their
/// own, whose words say what is drawn, and the inner synsets above them; and the ground truth.
void write_imagenet_devkit(const std::filesystem::path& file, const MadeLabels& labels);

}  // namespace feedrate::converters
