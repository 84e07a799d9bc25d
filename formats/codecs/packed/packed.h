#pragma once
// A packed JPEG: the quantised coefficients of a JPEG without its Huffman codes. Decoding takes half
// the time of a JPEG and gives the same pixels, because libjpeg-turbo computes them. Markers that
// pixels do not need (EXIF, colour profiles) are left out.
//
//   9E "packed1" | u64le fingerprint of what follows, up to the data |
//   u32le size of head | u32le number of runs | head | runs × (u32le end, u32le sum) | data
//
//   head   a baseline JPEG up to its scan, without Huffman tables: FF D8 … FF DA …
//   run    up to 8 MCUs of a row; runs begin at columns that are multiples of 8
//   end    where the run's data ends, counted from where the data begins
//   sum    the lower half of the fingerprint of the run's data
//   data   MCU by MCU, the blocks as packed_blocks.h draws them; blocks outside the image are zeros
//
// Fingerprints are XXH3 (formats/digests/fingerprint.h), so damage is found in all that is read. A
// part of an image needs only the runs that it touches.

#include "formats/pixels/image.h"

namespace feedrate::formats {

/// True when the bytes begin as a packed JPEG does.
bool is_packed_jpeg(Bytes encoded);
/// Shape of the image. Checks everything but the data. Throws Error naming the byte.
Shape packed_jpeg_shape(Bytes encoded);
/// The same pixels as decode_jpeg gives for the JPEG that was packed. Any thread. Throws Error
/// naming the byte on damage. What a part does not need stays unread.
void decode_packed_jpeg(Bytes encoded, Shape shape, MutableBytes pixels);
PixelRows decode_packed_jpeg_part(Bytes encoded, Shape shape, const Rect& part, Buffer& memory);

/// Replaces `packed`. Throws Error where decode_jpeg would, and for two kinds of JPEG that exist on
/// paper: progressive files that stop before their last bits, which libjpeg smooths, and files with
/// more blocks in an MCU than one scan may hold.
void pack_jpeg(Bytes jpeg, Buffer& packed);

}  // namespace feedrate::formats
