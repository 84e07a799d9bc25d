#pragma once
// The common PNGs (8 bits, grey or RGB, not interlaced), read and written several times as fast as by
// libpng. Any thread; each keeps its memory, so images no larger than an earlier one allocate
// nothing.

#include "formats/pixels/image.h"

namespace feedrate::formats {

// Sizes of what every PNG begins with (PNG specification, 5).
inline constexpr std::size_t png_signature = 8;
inline constexpr std::size_t png_chunk_overhead = 12;  // length, type and CRC of a chunk
inline constexpr std::size_t png_header =
    png_signature + png_chunk_overhead + 13;  // up to IHDR's end

/// Decodes the image's first rows, as many as `pixels` has room for and at least one, where
/// `encoded` is of that kind and shape and free of damage; of the rows below, only the chunks' CRCs
/// are checked. Otherwise returns false and leaves anything in `pixels`: libpng then decides.
bool decode_plain_png(Bytes encoded, Shape shape, MutableBytes pixels);

/// Replaces `encoded` by an 8-bit PNG, grey or RGB. The same pixels give the same bytes with the
/// same version of zlib.
void encode_png(const ImageView& image, Buffer& encoded);

}  // namespace feedrate::formats
