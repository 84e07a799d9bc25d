#pragma once
// Caffe's Datum, the value of a Caffe LMDB: a protobuf message, read in place and written with the
// same bytes as Caffe's. Stateless.
//
//   08 channels | 10 height | 18 width | 22 length data | 28 label | 35 float_data … | 38 encoded

#include <cstdint>

#include "formats/base/bytes.h"
#include "formats/pixels/image.h"

namespace feedrate::formats {

struct Datum {
  Shape shape;  // as stated; zero if not stated, as in encoded datums
  Bytes data;   // pixels (CHW) or an encoded image, inside the message
  std::int32_t label = 0;
  bool encoded = false;
  bool has_floats = false;  // it holds float_data, not the pixels of an image
};

/// As in protobuf, fields may be in any order, missing, repeated (the last counts) or unknown.
/// Throws Error naming the byte if the message is damaged or is not a Datum.
Datum parse_datum(Bytes message);

/// A message without its data, which goes between the two, so that large data need not be copied.
struct DatumFrame {
  Buffer head;
  Buffer tail;
};

/// The frame of shape.bytes() pixels in CHW order. Always writes `encoded`, although false is the
/// default: DALI takes a datum without it for a JPEG.
void frame_raw_datum(Shape shape, std::int32_t label, DatumFrame& frame);
/// The frame of an encoded image of `size` bytes; like Caffe, it states no shape.
void frame_encoded_datum(std::size_t size, std::int32_t label, DatumFrame& frame);

}  // namespace feedrate::formats
