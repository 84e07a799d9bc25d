#include "formats/containers/lmdb/tensor_proto.h"

#include "formats/base/error.h"
#include "formats/containers/wire.h"

namespace feedrate::formats {
namespace {

constexpr std::string_view what = "no Caffe2 TensorProtos, or damaged ones";

constexpr std::uint32_t tensor_key = wire_key(1, Wire::delimited);
constexpr std::uint32_t dims_key = wire_key(1, Wire::varint);
constexpr std::uint32_t packed_dims_key = wire_key(1, Wire::delimited);
constexpr std::uint32_t type_key = wire_key(2, Wire::varint);
constexpr std::uint32_t int32_key = wire_key(4, Wire::varint);
constexpr std::uint32_t packed_int32_key = wire_key(4, Wire::delimited);
constexpr std::uint32_t bytes_key = wire_key(5, Wire::delimited);
constexpr std::uint32_t string_key = wire_key(6, Wire::delimited);
constexpr std::uint32_t int64_key = wire_key(10, Wire::varint);
constexpr std::uint32_t packed_int64_key = wire_key(10, Wire::delimited);

// An AnnotatedDatum is 0a Datum | 10 type | 1a annotations …, and a Datum has a label (28) or says
// that it is encoded (38), which no tensor has.
bool is_annotated_datum(Bytes message) {
  constexpr std::uint32_t label_key = wire_key(5, Wire::varint);
  constexpr std::uint32_t encoded_key = wire_key(7, Wire::varint);
  WireReader reader(message, what);
  while (!reader.done()) {
    const std::uint32_t key = reader.read_key();
    if (key != tensor_key) return true;
    for (WireReader inner = reader.read_message(); !inner.done();) {
      const std::uint32_t field = inner.read_key();
      if (field == label_key || field == encoded_key) return true;
      inner.skip(field);
    }
  }
  return false;
}

void keep(std::array<std::int64_t, TensorProto::kept>& all, std::size_t& count,
          std::uint64_t value) {
  if (count < all.size()) all[count] = static_cast<std::int64_t>(value);
  ++count;
}

void keep_packed(std::array<std::int64_t, TensorProto::kept>& all, std::size_t& count,
                 WireReader values) {
  while (!values.done()) keep(all, count, values.read_varint());
}

TensorProto parse_tensor(WireReader reader) {
  TensorProto tensor;
  std::size_t int32_fields = 0;
  while (!reader.done()) {
    const std::uint32_t key = reader.read_key();
    switch (key) {
      case dims_key:
        keep(tensor.dims, tensor.dim_count, reader.read_varint());
        break;
      case packed_dims_key:
        keep_packed(tensor.dims, tensor.dim_count, reader.read_message());
        break;
      case type_key:
        tensor.type = reader.read_varint();
        break;
      case packed_int32_key: {
        WireReader field = reader;
        tensor.packed = ++int32_fields == 1 ? field.read_delimited() : Bytes();
        keep_packed(tensor.numbers, tensor.number_count, reader.read_message());
        break;
      }
      case int32_key:
      case int64_key:
        keep(tensor.numbers, tensor.number_count, reader.read_varint());
        break;
      case packed_int64_key:
        keep_packed(tensor.numbers, tensor.number_count, reader.read_message());
        break;
      case string_key:
        ++tensor.string_count;
        [[fallthrough]];
      case bytes_key:
        tensor.bytes = reader.read_delimited();
        break;
      default:
        reader.skip(key);
    }
  }
  return tensor;
}

}  // namespace

TensorProtos parse_tensor_protos(Bytes message) {
  if (is_annotated_datum(message)) {
    throw Error(
        "it is an AnnotatedDatum of SSD's Caffe, with boxes for many objects; Feedrate "
        "reads Caffe's Datum and Caffe2's TensorProtos");
  }
  TensorProtos protos;
  WireReader reader(message, what);
  while (!reader.done()) {
    reader.read_key();
    if (protos.count == protos.tensors.size()) {
      reader.damaged("starts a fourth tensor; expected an image, a label and perhaps a box");
    }
    protos.tensors[protos.count++] = parse_tensor(reader.read_message());
  }
  return protos;
}

}  // namespace feedrate::formats
