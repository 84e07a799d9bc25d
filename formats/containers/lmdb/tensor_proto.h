#pragma once
// Caffe2's TensorProtos, the value of a Caffe2 LMDB, read in place. Stateless.
//
//   TensorProtos: 0a TensorProto …
//   TensorProto:  08 dim … | 10 type | 22 packed int32 … | 2a bytes | 32 string … | 52 packed int64
//   …

#include <array>
#include <cstdint>

#include "formats/base/bytes.h"

namespace feedrate::formats {

struct TensorProto {
  enum Type : std::uint64_t { int32 = 2, byte = 3, string = 4, uint8 = 6, int64 = 10 };
  static constexpr std::size_t kept = 4;  // dims and numbers

  std::uint64_t type = 0;
  std::array<std::int64_t, kept> dims{};
  std::size_t dim_count = 0;
  std::array<std::int64_t, kept> numbers{};  // the first of int32_data or int64_data
  std::size_t number_count = 0;              // all of them
  Bytes packed;                              // int32_data, when one field holds all of it
  Bytes bytes;                               // byte_data, or the last string
  std::size_t string_count = 0;
};

/// Image, label, and perhaps a bounding box.
struct TensorProtos {
  std::array<TensorProto, 3> tensors;
  std::size_t count = 0;
};

/// Throws Error naming the byte when the message is damaged or is another one; SSD's
/// AnnotatedDatum, which starts alike, is refused by name.
TensorProtos parse_tensor_protos(Bytes message);

}  // namespace feedrate::formats
