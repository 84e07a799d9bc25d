#pragma once
// The two splits of ILSVRC2012 as streams of samples.

#include <memory>
#include <vector>

#include "converters/imagenet/boxes.h"
#include "converters/imagenet/devkit.h"
#include "converters/imagenet/imagenet_files.h"
#include "converters/source.h"

namespace feedrate::converters {

/// Optional inputs of both splits.
struct ImagenetExtras {
  std::optional<Devkit> devkit;
  std::optional<Boxes> boxes;  // nothing if none were given
};

/// The training images, class tar by class tar, in the order of the tars, in constant memory.
/// Samples last (SampleStream::lasting) if no tar is compressed. Throws Error for a class that
/// ILSVRC2012 does not have, or that appears twice.
std::unique_ptr<SampleStream> open_imagenet_train(std::vector<TrainTar> tars,
                                                  ImagenetExtras extras);

/// The validation images in the order of their names, with the labels of the devkit, which must be
/// given. Samples last: as views of an uncompressed tar, or in memory if it is compressed. Throws
/// Error if that takes more than 512 MiB.
std::unique_ptr<SampleStream> open_imagenet_val(std::vector<std::filesystem::path> tars,
                                                ImagenetExtras extras);

/// The StreamInfo of both splits: classes, their names, the label space.
StreamInfo imagenet_info(const ImagenetExtras& extras);

/// Counts for the notes of a dataset.
struct ImagenetTally {
  std::uint64_t images = 0;
  std::uint64_t without_boxes = 0;
  std::uint64_t clutter = 0;
  std::vector<std::string> empty_classes;

  /// Appends the notes to `info`.
  void add_notes(StreamInfo& info, const ImagenetExtras& extras) const;
};

}  // namespace feedrate::converters
