#pragma once
// PASCAL-style annotations, the format of ImageNet's bounding boxes: one small XML file per image.
//
//   <annotation> <size><width>500</width><height>375</height></size>
//                <object><name>n01440764</name>
//                        <bndbox><xmin>34</xmin><ymin>128</ymin><xmax>430</xmax><ymax>305</ymax>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/sample.h"

namespace feedrate::converters {

/// In pixels, as stated: corners may be swapped or outside the image.
struct AnnotatedBox {
  std::string name;  // of the object: a wnid, or a word
  double xmin = 0;
  double ymin = 0;
  double xmax = 0;
  double ymax = 0;
};

struct Annotation {
  double width = 0;  // of the annotated image, in pixels; some tools write 0
  double height = 0;
  std::vector<AnnotatedBox> boxes;
};

/// Stateless. Throws Error naming `place` and the byte if the XML is not well formed, states no
/// size, or has a box without a corner.
Annotation parse_annotation(std::string_view xml, const std::string& place);

/// The box relative to the image's sides by the rules of TensorFlow's process_bounding_boxes.py:
/// swapped corners put in order, clamped to 0 … 1, rounded to four decimals. Nothing for a box
/// without area.
std::optional<formats::Box> relative_box(const Annotation& annotation, const AnnotatedBox& box);

}  // namespace feedrate::converters
