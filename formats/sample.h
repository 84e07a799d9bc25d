#pragma once
// A sample: one labelled image, still encoded, seen through views that belong to someone else.

#include <cstdint>
#include <span>
#include <string_view>

#include "formats/codec.h"
#include "formats/pixels/image.h"

namespace feedrate::formats {

/// How `raw` pixels lie in memory. Encoded images (PNG, …) always decode to interleaved.
enum class PixelOrder : std::uint8_t {
  interleaved,  // HWC, RGB or grey: our own order
  planar_rgb,   // CHW, R then G then B: Caffe's CIFAR converter, CIFAR's own files
  planar_bgr,   // CHW, B then G then R: Caffe's convert_imageset
};

/// Where an object is, relative to the image's sides: 0 … 1, min < max.
struct Box {
  float xmin = 0;
  float ymin = 0;
  float xmax = 0;
  float ymax = 0;
  bool operator==(const Box&) const = default;
};

/// Valid as long as the memory behind it: a reader's scratch until its next use, a map for the life
/// of its dataset, a stream until its next sample.
struct Sample {
  Bytes bytes;                                 // the encoded image
  const Codec* codec = nullptr;                // never null in a sample that is handed out
  Shape shape = {};                            // of the decoded image
  PixelOrder order = PixelOrder::interleaved;  // of `raw` bytes
  std::int32_t label = 0;                      // 0-based class
  std::string_view name = {};                  // file name or key in the source; may be empty
  std::span<const Box> boxes = {};             // empty where none are known
  std::span<const float> labels = {};          // of a record that lists them; else empty
};

/// Decodes into the caller's memory: `pixels` has sample.shape.bytes() bytes and receives u8 HWC.
/// Any thread. Throws Error (without a place: the caller knows the file) on damage.
void decode(const Sample& sample, MutableBytes pixels);

/// The same for `part` alone, which lies inside the image and is not empty: where its pixels are,
/// in `memory` (which grows) or in the sample. See Codec::decode_part.
PixelRows decode_part(const Sample& sample, const Rect& part, Buffer& memory);

}  // namespace feedrate::formats
