#pragma once
// JPEG by libjpeg-turbo, but for the Huffman codes of baseline files, which jpeg_huffman.h reads
// faster. Where those are not perfectly sound, libjpeg-turbo decodes the image alone: pixels and
// errors are always its own. Any thread: each keeps one decompressor and one compressor, which
// survive errors, and no image affects the next one.
//
//   FF D8 | FF marker, u16be length, body … | FF C0…CF (SOFn) | … | FF DA (SOS) scan … | FF D9

#include <optional>
#include <string>

#include "formats/pixels/image.h"

namespace feedrate::formats {

/// What the markers before the first scan say.
struct JpegHeader {
  Shape shape;               // of the decoded image: 1 channel for grey, 3 for all others
  unsigned components = 0;   // as stored: 1 grey, 3 YCbCr or RGB, 4 CMYK or YCCK
  bool progressive = false;  // several scans, all of which are needed
  bool arithmetic = false;   // arithmetic instead of Huffman coding
  std::optional<int> adobe;  // the colour transform that an Adobe marker states: 0, 1 or 2
};

/// Walks the markers up to the first scan; allocates nothing. Throws Error naming the byte for
/// damage, for kinds of JPEG that are not supported (12 bits, lossless, hierarchical), and for
/// dimensions that the file is too short to hold.
JpegHeader jpeg_header(Bytes encoded);
/// The header, where `encoded` is only the beginning of a file of `size` bytes.
JpegHeader jpeg_header(Bytes encoded, std::size_t size);

/// Decodes into `pixels`, shape.bytes() of them, exactly as libjpeg-turbo does by default (ISLOW,
/// smooth upsampling of chroma). CMYK becomes RGB by R = C·K / 255, rounded to nearest, where C and
/// K are the stored values: the inverses of the inks, as Adobe stores them. Pillow, OpenCV and
/// torchvision take them so without Adobe's marker, too. Colour profiles and the EXIF orientation are ignored.
///
/// Throws Error naming the byte wherever libjpeg had to guess pixels: data that ends early, invalid
/// codes, lost restart markers, missing scans. Accepts what real files contain: bytes between
/// markers, unknown versions of JFIF, bytes after the end of the image, and what it returns: why the
/// pixels, which are those that libjpeg gives without a word, may still be wrong. That is a code that
/// is none, bytes that no code accounts for (but 00 and FF, which is padding), or a scan that other
/// bytes follow instead of the end of the image. Empty where a strict decoder has nothing to say.
std::string decode_jpeg(Bytes encoded, Shape shape, MutableBytes pixels);

/// True where decode_jpeg() would succeed and return nothing, by the codes of a baseline image alone,
/// in half its time. False where only decode_jpeg() can tell.
bool is_sound_jpeg(Bytes encoded);
/// Whether the codes of a baseline image are complete, and bytes that are no marker of its end follow.
bool lacks_only_its_end(Bytes encoded);

/// Decodes only `part`, which is not empty and lies inside the image, to the same pixels, in
/// `memory`, which grows. Rows below the part stay unread, so damage there goes unnoticed. Above
/// and beside it, only the entropy codes are read; no pixels are computed.
PixelRows decode_jpeg_part(Bytes encoded, Shape shape, const Rect& part, Buffer& memory);

/// How much of scans was decoded for parts of images.
struct JpegCounts {
  std::uint64_t parts = 0;    // of images whose Huffman codes we read ourselves; of these:
  std::uint64_t indexed = 0;  // those decoded with an index
  std::uint64_t mcus_read = 0, mcus = 0;
  std::uint64_t bytes_read = 0, bytes = 0;  // of the scans; of the whole files
  std::uint64_t stale = 0;                  // entries that did not fit, so that they were not used
};

/// What helps to decode a part. It changes no pixel.
struct JpegAid {
  Bytes entry = {};              // of the crop index (jpeg_index.h), or empty; checked
  JpegCounts* counts = nullptr;  // is added to
};
PixelRows decode_jpeg_part(Bytes encoded, Shape shape, const Rect& part, Buffer& memory,
                           const JpegAid& aid);
/// An image decoded at 1/`shrunk` of its size (2, 4 or 8): the last row and column may hold less.
constexpr Shape shrunk_shape(Shape shape, std::uint32_t shrunk) {
  return {(shape.height + shrunk - 1) / shrunk, (shape.width + shrunk - 1) / shrunk,
          shape.channels};
}
/// Decodes `part` of the image at 1/`shrunk` of its size, as libjpeg-turbo does from the lower
/// frequencies of each block: faster, with a pixel for what were shrunk x shrunk. Throws Error also
/// where the image has another shape.
PixelRows decode_shrunk_jpeg_part(Bytes encoded, Shape shape, std::uint32_t shrunk,
                                  const Rect& part, Buffer& memory, const JpegAid& aid = {});

/// Replaces `encoded` by a baseline JPEG as cv2.imwrite and im2rec write it at that quality (1 …
/// 100): grey, or YCbCr with chroma at half the resolution (4:2:0), with the standard Huffman
/// tables. The same pixels give the same bytes. Throws Error for a side over 65,500, libjpeg's
/// limit.
void encode_jpeg(const ImageView& image, int quality, Buffer& encoded);

}  // namespace feedrate::formats
