#pragma once
// Writes PNG without libpng, several times as fast for photographs. Each thread keeps its memory,
// so nothing is allocated for images no larger than those it has seen.

#include "formats/pixels/image.h"

namespace feedrate::formats {

/// Replaces `encoded` by an 8-bit PNG, grey or RGB. The same pixels give the same bytes wherever
/// the zlib is the same one.
void encode_png(const ImageView& image, Buffer& encoded);

}  // namespace feedrate::formats
