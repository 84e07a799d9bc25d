#pragma once
// A decoder for the common PNGs (8 bits, grey or RGB, not interlaced), several times as fast as
// libpng. Any thread; each keeps its memory.

#include "formats/pixels/image.h"

namespace feedrate::formats {

/// Decodes the image's first rows, as many as `pixels` has room for and at least one, where
/// `encoded` is of that kind and shape and free of damage; of the rows below, only the chunks' CRCs
/// are checked. Otherwise returns false and leaves anything in `pixels`: libpng then decides.
bool decode_plain_png(Bytes encoded, Shape shape, MutableBytes pixels);

}  // namespace feedrate::formats
