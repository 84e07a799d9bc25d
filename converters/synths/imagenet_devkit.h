#pragma once
// The devkit of a made ImageNet, in the layout of the published one.

#include <cstdint>
#include <filesystem>
#include <span>

namespace feedrate::converters {

/// Writes ILSVRC2012_devkit_t12.tar.gz with `val_labels` as the ground truth of the validation
/// images. It has no meta.mat: the classes are those of ILSVRC2012.
void write_imagenet_devkit(const std::filesystem::path& file,
                           std::span<const std::int32_t> val_labels);

}  // namespace feedrate::converters
