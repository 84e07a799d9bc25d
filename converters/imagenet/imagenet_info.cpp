#include "converters/imagenet/imagenet_streams.h"
#include "formats/base/counted.h"
#include "formats/base/error.h"
#include "formats/base/imagenet_classes.h"

namespace feedrate::converters {
using namespace formats;

namespace {

void note_boxes(std::vector<std::string>& notes, const BoxCounts& counts,
                std::uint64_t without_boxes, std::uint64_t images) {
  notes.push_back(join(without_boxes, " of ", images, " images have no bounding box"));
  const auto left_out = [&](std::uint64_t count, std::string_view one, std::string_view more,
                            std::string_view rest) {
    if (count != 0) notes.push_back(join("left out: ", counted_as(count, one, more), rest));
  };
  left_out(counts.degenerate, "bounding box", "bounding boxes",
           " without area, or of an annotation that states a size of 0");
  left_out(counts.foreign, "bounding box", "bounding boxes", " of another class than the image's");
  left_out(counts.repeated, "annotation", "annotations", " after an image's first");
  left_out(counts.other_files, "file", "files", " among the annotations, not XML");
}

}  // namespace

StreamInfo imagenet_info(const ImagenetExtras& extras) {
  StreamInfo info;
  info.classes = imagenet_classes;
  info.label_space = "ILSVRC2012: index of the sorted wnids, 0..999";
  info.class_names.names = imagenet_wnids();
  // Words only if the devkit is given, as before the table was built in: the same inputs keep
  // giving the same files.
  if (extras.devkit) info.class_names.texts = imagenet_words();
  info.notes.emplace_back("EXIF orientation is ignored, as all reference results do");
  return info;
}

void ImagenetTally::add_notes(StreamInfo& info, const ImagenetExtras& extras) const {
  if (extras.boxes) note_boxes(info.notes, extras.boxes->counts(), without_boxes, images);
  if (clutter != 0) {
    info.notes.push_back(join("left out: ", counted_as(clutter, "file", "files"),
                              " like .DS_Store, ._name and README"));
  }
  if (!empty_classes.empty()) {
    info.notes.push_back(join("class tars without images: ", empty_classes.size(), ", first ",
                              empty_classes.front()));
  }
}

}  // namespace feedrate::converters
