// ImageNet's XML files of bounding boxes.

#include <cmath>

#include "converters/imagenet/annotation.h"
#include "tests/converters/make_annotation.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;
using namespace converters;

std::vector<Buffer> seeds() {
  return {buffer(testing::make_annotation(500, 375, {{"n01440764", 34, 128, 430, 305}})),
          buffer(testing::make_annotation(2, 1, {})),
          buffer("<?xml version=\"1.0\"?><!-- a --><annotation><size><width>7</width><height>9"
                 "</height></size><object><name>x</name><bndbox><xmin>5.5</xmin><ymin>-1</ymin>"
                 "<xmax>1</xmax><ymax>1e3</ymax></bndbox><part/></object></annotation>")};
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate;
  using namespace feedrate::formats;
  using namespace feedrate::converters;
  using namespace feedrate::fuzz;
  const Bytes xml = fenced(data, size);
  Annotation annotation;
  if (!accepts([&] { annotation = parse_annotation(as_text(xml), "place"); })) return 0;
  require(std::isfinite(annotation.width) && annotation.width >= 0 &&
              std::isfinite(annotation.height) && annotation.height >= 0,
          "an image has a size");
  for (const AnnotatedBox& box : annotation.boxes) {
    const auto relative = relative_box(annotation, box);
    if (!relative) continue;
    require(relative->xmin >= 0 && relative->xmin < relative->xmax && relative->xmax <= 1 &&
                relative->ymin >= 0 && relative->ymin < relative->ymax && relative->ymax <= 1,
            "a box lies in the image and has an area");
  }
  return 0;
}
