#pragma once
// The PNGs that datasets are made of, read several times as fast as by libpng: 8 bits, grey or RGB,
// not interlaced. Each thread keeps its memory.

#include "formats/pixels/image.h"

namespace feedrate::formats {

/// Decodes the image's first rows, as many as `pixels` has room for and at least one, where
/// `encoded` is of that kind and shape and every byte of it is sound; of rows below those only the
/// chunks' CRCs are looked at. False otherwise, with anything in `pixels`: libpng then has the last
/// word.
bool decode_plain_png(Bytes encoded, Shape shape, MutableBytes pixels);

}  // namespace feedrate::formats
