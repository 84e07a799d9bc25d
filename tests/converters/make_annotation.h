#pragma once
// PASCAL-style annotations for tests.

#include <string>
#include <vector>

#include "formats/base/error.h"

namespace feedrate::testing {
using namespace formats;

struct DrawnBox {
  std::string name;
  int xmin, ymin, xmax, ymax;
};

/// In ImageNet's layout, with "%s" for the file name, as in some published ones.
inline std::string make_annotation(int width, int height, const std::vector<DrawnBox>& boxes) {
  std::string xml = join(
      "<annotation>\n\t<folder>x</folder>\n\t<filename>%s</filename>\n\t<size>\n", "\t\t<width>",
      width, "</width>\n\t\t<height>", height, "</height>\n\t\t<depth>3</depth>\n\t</size>\n");
  for (const DrawnBox& box : boxes) {
    xml += join("\t<object>\n\t\t<name>", box.name, "</name>\n\t\t<bndbox>\n\t\t\t<xmin>", box.xmin,
                "</xmin>\n\t\t\t<ymin>", box.ymin, "</ymin>\n\t\t\t<xmax>", box.xmax,
                "</xmax>\n\t\t\t<ymax>", box.ymax, "</ymax>\n\t\t</bndbox>\n\t</object>\n");
  }
  return xml + "</annotation>\n";
}

}  // namespace feedrate::testing
