#pragma once
// MXNet's image record, the payload of a record: metadata of an image, then the image. And the
// meaning of its labels.
//
//   u32 flag | f32 label | u64 id | u64 id2 | flag × f32 label | image

#include <cstdint>

#include "formats/dataset.h"

namespace feedrate::formats {

struct ImageRecord {
  float label = 0;  // of the header
  Bytes labels;     // f32, little-endian; empty where only the header has a label
  std::uint64_t id = 0;
  Bytes image;
  Bytes head;  // everything in front of the image

  std::size_t label_count() const { return labels.size() / sizeof(float); }
  float label_at(std::size_t i) const { return load_le<float>(labels.data() + i * sizeof(float)); }
};

/// Throws Error when the payload cannot be an image record.
ImageRecord parse_image_record(Bytes payload);

/// Sets label, labels and boxes of `sample`; `scratch` owns the latter two. A label in the header
/// is the class, a whole number; a fraction is a list of one, and what is no number an Error. Of several labels
/// - those that MXNet's ImageDetIter reads (header width A, object width B, …, then objects of
///   class, xmin, ymin, xmax, ymax, …) are boxes, and the first object's class is the sample's;
///   objects of class -1 are padding; boxes in pixels are left out and counted;
/// - else the first one is the class when it is a whole number of 0 or more;
/// - else the sample has no class: its label is no_class.
/// The sample's `labels` are all of them.
void read_labels(const ImageRecord& record, Sample& sample, Scratch& scratch);
inline constexpr std::int32_t no_class = -1;

/// Replaces `head` by everything in front of the image: the label, or the labels where the sample
/// has a list of them (the header's own is then 0, as Python's mxnet packs it). Throws Error for a
/// label that a 32-bit float cannot hold exactly.
void write_image_head(const Sample& sample, std::uint64_t id, Buffer& head);

}  // namespace feedrate::formats
