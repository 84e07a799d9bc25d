#pragma once
// A PNG writer, several times as fast as libpng for photographs. Any thread; each keeps its memory,
// so images no larger than an earlier one allocate nothing.

#include "formats/pixels/image.h"

namespace feedrate::formats {

/// Replaces `encoded` by an 8-bit PNG, grey or RGB. The same pixels give the same bytes with the
/// same version of zlib.
void encode_png(const ImageView& image, Buffer& encoded);

}  // namespace feedrate::formats
