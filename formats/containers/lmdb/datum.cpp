#include "formats/containers/lmdb/datum.h"

#include "formats/containers/wire.h"

namespace feedrate::formats {
namespace {

constexpr std::string_view what = "not a Caffe Datum, or a damaged one";

constexpr std::uint32_t channels_key = wire_key(1, Wire::varint);
constexpr std::uint32_t height_key = wire_key(2, Wire::varint);
constexpr std::uint32_t width_key = wire_key(3, Wire::varint);
constexpr std::uint32_t data_key = wire_key(4, Wire::delimited);
constexpr std::uint32_t label_key = wire_key(5, Wire::varint);
constexpr std::uint32_t float_key = wire_key(6, Wire::fixed32);
constexpr std::uint32_t packed_float_key = wire_key(6, Wire::delimited);
constexpr std::uint32_t encoded_key = wire_key(7, Wire::varint);

void append_frame(DatumFrame& frame, std::size_t size, std::int32_t label, bool encoded) {
  append_varint(frame.head, data_key);
  append_varint(frame.head, size);
  frame.tail.clear();
  append_varint_field(frame.tail, label_key, label);
  append_varint_field(frame.tail, encoded_key, encoded ? 1 : 0);
}

}  // namespace

Datum parse_datum(Bytes message) {
  Datum datum;
  WireReader reader(message, what);
  while (!reader.done()) {
    const std::uint32_t key = reader.read_key();
    switch (key) {
      case channels_key:
        datum.shape.channels = static_cast<std::uint32_t>(reader.read_varint());
        break;
      case height_key:
        datum.shape.height = static_cast<std::uint32_t>(reader.read_varint());
        break;
      case width_key:
        datum.shape.width = static_cast<std::uint32_t>(reader.read_varint());
        break;
      case data_key:
        datum.data = reader.read_delimited();
        break;
      case label_key:
        datum.label = static_cast<std::int32_t>(reader.read_varint());
        break;
      case encoded_key:
        datum.encoded = reader.read_varint() != 0;
        break;
      case float_key:
      case packed_float_key:
        datum.has_floats = true;
        [[fallthrough]];
      default:
        reader.skip(key);
    }
  }
  return datum;
}

void frame_raw_datum(Shape shape, std::int32_t label, DatumFrame& frame) {
  frame.head.clear();
  append_varint_field(frame.head, channels_key, shape.channels);
  append_varint_field(frame.head, height_key, shape.height);
  append_varint_field(frame.head, width_key, shape.width);
  append_frame(frame, shape.bytes(), label, false);
}

void frame_encoded_datum(std::size_t size, std::int32_t label, DatumFrame& frame) {
  frame.head.clear();
  append_frame(frame, size, label, true);
}

}  // namespace feedrate::formats
