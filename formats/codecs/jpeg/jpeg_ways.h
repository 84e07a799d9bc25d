#pragma once
// decode_jpeg and decode_jpeg_part with a Huffman decoder of choice, for tests and benchmarks. All
// give the same pixels and the same errors.

#include "formats/codecs/jpeg/jpeg.h"
#include "formats/codecs/jpeg/jpeg_huffman.h"

namespace feedrate::formats {

/// `how` may be null: then libjpeg-turbo does everything. `part` is one of the image at 1/`shrunk`
/// of its size.
std::string decode_jpeg(const HuffmanDecoding* how, Bytes encoded, Shape shape,
                        MutableBytes pixels);
PixelRows decode_jpeg_part(const HuffmanDecoding* how, Bytes encoded, Shape shape, const Rect& part,
                           Buffer& memory, const JpegAid& aid = {}, std::uint32_t shrunk = 1);

}  // namespace feedrate::formats
