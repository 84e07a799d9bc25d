#pragma once
// The size of an image in the results of commands: see tools/console/fields.h.

#include "formats/pixels/image.h"
#include "tools/console/fields.h"

namespace feedrate::tools {

template <>
inline constexpr Heading heading_of<formats::Shape>{"shape", "The size of an image."};

template <class Field>
void for_each_field(const formats::Shape& shape, const Field& field) {
  field("height", shape.height, {"number of rows", Unit{"pixels"}});
  field("width", shape.width, {"number of columns", Unit{"pixels"}});
  field("channels", shape.channels, {"1 grey, 3 RGB"});
}

}  // namespace feedrate::tools
