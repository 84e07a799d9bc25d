#pragma once
// What every codec asks whose files state their own shape.

#include <string_view>

#include "formats/base/error.h"
#include "formats/pixels/image.h"

namespace feedrate::formats {

/// Throws Error unless an image of `kind` ("PNG") holds what its caller was told.
inline void expect_shape(Shape stored, Shape wanted, std::string_view kind) {
  if (stored == wanted) return;
  throw Error(join("expected ", wanted.height, "x", wanted.width, "x", wanted.channels, ", the ",
                   kind, " holds ", stored.height, "x", stored.width, "x", stored.channels));
}

}  // namespace feedrate::formats
