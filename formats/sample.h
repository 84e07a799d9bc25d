#pragma once
// A sample: one labelled image, still encoded. All its members are views of memory owned elsewhere.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "formats/codec.h"
#include "formats/pixels/image.h"

namespace feedrate::formats {

/// The order of `raw` pixels in memory. Encoded images (PNG, …) always decode to interleaved.
enum class PixelOrder : std::uint8_t {
  interleaved,  // HWC, RGB or grey: our own order
  planar_rgb,   // CHW, R then G then B: Caffe's CIFAR converter, CIFAR's own files
  planar_bgr,   // CHW, B then G then R: Caffe's convert_imageset
};

/// Bounding box of an object, relative to the image's sides: 0 … 1, min < max.
struct Box {
  float xmin = 0;
  float ymin = 0;
  float xmax = 0;
  float ymax = 0;
  bool operator==(const Box&) const = default;
};

/// The box between two corners, relative to the image's sides: put in order and clamped to 0 … 1, because
/// boxes of real sets reach a little beyond the image. Nothing where no area is left or a corner is no number.
std::optional<Box> box_between(Box corners);
/// Adds that box to `boxes` where nothing states the unit. Counts it as left out where there is none, and where it is so
/// far beyond the image that it must be in pixels: a box that is none makes no image bad.
void take_box(Box corners, std::vector<Box>& boxes, std::uint32_t& left_out);

/// Valid as long as the memory it views: a reader's scratch until its next use, a mapped file for
/// the life of its dataset, a stream until its next sample.
struct Sample {
  Bytes bytes;                                 // the encoded image
  const Codec* codec = nullptr;                // never null in a sample that a reader returns
  Shape shape = {};                            // of the decoded image
  PixelOrder order = PixelOrder::interleaved;  // of `raw` bytes
  std::int32_t label = 0;                      // 0-based class
  std::string_view name = {};                  // file name or key in the source; may be empty
  std::span<const Box> boxes = {};             // empty when unknown
  std::span<const float> labels = {};          // all labels, where a record has a list of them
  std::uint32_t boxes_left_out = 0;            // stated, but none by take_box()
  bool extras_damaged = false;  // a file beside the image is: of it, nothing was needed or read
};

/// Decodes into the caller's memory: `pixels` has sample.shape.bytes() bytes and receives u8 HWC.
/// Any thread. Throws Error on damage, without naming the file, which the caller knows.
void decode(const Sample& sample, MutableBytes pixels);

/// The same; returns what Codec::decode_strictly does.
std::string decode_strictly(const Sample& sample, MutableBytes pixels);

/// The same for `part` alone, which is not empty and lies inside the image. Returns where its
/// pixels are: in `memory`, which grows, or in the sample. See Codec::decode_part.
PixelRows decode_part(const Sample& sample, const Rect& part, Buffer& memory);

}  // namespace feedrate::formats
