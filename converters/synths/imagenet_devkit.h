#pragma once
// The devkit of a made ImageNet, in the layout of the published one.

#include <cstdint>
#include <filesystem>
#include <span>

namespace feedrate::converters {

/// Writes ILSVRC2012_devkit_t12.tar.gz with the ground truth of the validation images, whose labels
/// these are. It has no meta.mat: the classes are ILSVRC2012's own.
void write_imagenet_devkit(const std::filesystem::path& file,
                           std::span<const std::int32_t> val_labels);

}  // namespace feedrate::converters
