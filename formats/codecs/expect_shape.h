#pragma once
// A check shared by the codecs whose encoded images state their own shape.

#include <string_view>

#include "formats/base/error.h"
#include "formats/pixels/image.h"

namespace feedrate::formats {

/// Throws Error unless the shape that an image of `kind` ("PNG") states is the one its caller
/// expects.
inline void expect_shape(Shape stored, Shape wanted, std::string_view kind) {
  if (stored == wanted) return;
  throw Error(join("expected ", wanted.height, "x", wanted.width, "x", wanted.channels, ", the ",
                   kind, " holds ", stored.height, "x", stored.width, "x", stored.channels));
}

}  // namespace feedrate::formats
