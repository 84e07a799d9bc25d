#pragma once
// Caffe's Datum, the value of a Caffe LMDB: a protobuf message read in place and written byte by
// byte as Caffe does. Stateless.
//
//   08 channels | 10 height | 18 width | 22 length data | 28 label | 35 float_data … | 38 encoded

#include <cstdint>

#include "formats/base/bytes.h"
#include "formats/pixels/image.h"

namespace feedrate::formats {

struct Datum {
  Shape shape;  // as stated; zero where the message says nothing (encoded datums do)
  Bytes data;   // pixels (CHW) or an encoded image, inside the message
  std::int32_t label = 0;
  bool encoded = false;
  bool has_floats = false;  // float_data, which holds no image of bytes
};

/// Fields in any order, missing, repeated (the last counts) or unknown are all right, as protobuf
/// has it. Throws Error naming the byte when the message is damaged or is none.
Datum parse_datum(Bytes message);

/// A message without its data, which goes between the two: large data need not be copied for it.
struct DatumFrame {
  Buffer head;
  Buffer tail;
};

/// Around shape.bytes() pixels in CHW order. `encoded` false is always written: DALI takes a datum
/// without it for JPEG.
void frame_raw_datum(Shape shape, std::int32_t label, DatumFrame& frame);
/// Around an encoded image of `size` bytes; Caffe states no shape here.
void frame_encoded_datum(std::size_t size, std::int32_t label, DatumFrame& frame);

}  // namespace feedrate::formats
