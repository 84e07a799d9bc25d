#pragma once
// The two splits of ILSVRC2012 as streams of samples.

#include <memory>
#include <vector>

#include "converters/imagenet/boxes.h"
#include "converters/imagenet/devkit.h"
#include "converters/imagenet/imagenet_files.h"
#include "converters/source.h"

namespace feedrate::converters {

/// What both splits are told.
struct ImagenetExtras {
  std::optional<Devkit> devkit;
  std::optional<Boxes> boxes;  // nothing: none were given
};

/// The training images, class tar by class tar, in the order of the tars. Constant memory. Samples
/// last where no tar is compressed. Throws Error for a class that ILSVRC2012 does not have, or that
/// comes twice.
std::unique_ptr<SampleStream> open_imagenet_train(std::vector<TrainTar> tars,
                                                  ImagenetExtras extras);

/// The validation images in the order of their names, labelled by the devkit, which they need.
/// Samples last: as views of a plain tar; those of a compressed one are held in memory, at most
/// 512 MiB of them.
std::unique_ptr<SampleStream> open_imagenet_val(std::vector<std::filesystem::path> tars,
                                                ImagenetExtras extras);

/// What both streams tell: classes, their names, how labels count.
StreamInfo imagenet_info(const ImagenetExtras& extras);

/// Counts what becomes the notes of a dataset.
struct ImagenetTally {
  std::uint64_t images = 0;
  std::uint64_t without_boxes = 0;
  std::uint64_t clutter = 0;

  /// Sentences, put behind the ones that `info` has.
  void add_notes(StreamInfo& info, const ImagenetExtras& extras) const;
};

}  // namespace feedrate::converters
