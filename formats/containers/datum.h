#pragma once
// Caffe's Datum, the value of a Caffe LMDB: a protobuf message read in place and written byte by
// byte as Caffe does. Stateless.
//
//   08 channels | 10 height | 18 width | 22 length data | 28 label | 35 float_data … | 38 encoded

#include <cstdint>

#include "formats/bytes.h"
#include "formats/image.h"

namespace feedrate {

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

/// Pixels in CHW order. `encoded` false is always written: DALI takes a datum without it for JPEG.
void write_raw_datum(Shape shape, Bytes pixels, std::int32_t label, Buffer& message);
/// An encoded image; Caffe states no shape here.
void write_encoded_datum(Bytes image, std::int32_t label, Buffer& message);

}  // namespace feedrate
