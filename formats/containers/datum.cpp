#include "formats/containers/datum.h"

#include "formats/error.h"

namespace feedrate {
namespace {

// The lowest three bits of a field's key: how its value is stored.
enum Wire : std::uint32_t { varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5 };

constexpr std::uint32_t key(std::uint32_t field, Wire wire) { return field << 3 | wire; }

constexpr std::uint32_t channels_key = key(1, varint);
constexpr std::uint32_t height_key = key(2, varint);
constexpr std::uint32_t width_key = key(3, varint);
constexpr std::uint32_t data_key = key(4, delimited);
constexpr std::uint32_t label_key = key(5, varint);
constexpr std::uint32_t float_key = key(6, fixed32);
constexpr std::uint32_t packed_float_key = key(6, delimited);
constexpr std::uint32_t encoded_key = key(7, varint);

class WireReader {
 public:
  explicit WireReader(Bytes message) : message_(message) {}

  bool done() const { return at_ == message_.size(); }
  std::size_t position() const { return at_; }

  std::uint64_t read_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == message_.size()) damaged("ends inside a number");
      const auto byte = std::to_integer<std::uint64_t>(message_[at_++]);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    damaged("has a number of more than 10 bytes");
  }

  Bytes read_delimited() {
    const std::uint64_t size = read_varint();
    if (size > message_.size() - at_) {
      damaged(join("states ", size, " bytes where ", message_.size() - at_, " are left"));
    }
    return take(static_cast<std::size_t>(size));
  }

  void skip(std::uint32_t wire) {
    switch (wire) {
      case varint:
        read_varint();
        return;
      case delimited:
        read_delimited();
        return;
      case fixed32:
      case fixed64: {
        const std::size_t size = wire == fixed32 ? 4 : 8;
        if (size > message_.size() - at_) damaged("ends inside a number");
        take(size);
        return;
      }
      default:
        damaged(join("has a field of type ", wire, ", which protobuf does not know"));
    }
  }

  [[noreturn]] void damaged(std::string_view how) const {
    throw Error(
        join("no Caffe Datum, or a damaged one: byte ", at_, " of ", message_.size(), " ", how));
  }

 private:
  Bytes take(std::size_t size) {
    const Bytes taken = message_.subspan(at_, size);
    at_ += size;
    return taken;
  }

  Bytes message_;
  std::size_t at_ = 0;
};

void append_varint(Buffer& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<std::byte>(value | 0x80));
  to.push_back(static_cast<std::byte>(value));
}

void append_number(Buffer& to, std::uint32_t field_key, std::int32_t value) {
  append_varint(to, field_key);
  // Protobuf stores a negative int32 as the int64 of the same value: ten bytes.
  append_varint(to, static_cast<std::uint64_t>(std::int64_t{value}));
}

void append_tail(Buffer& to, Bytes data, std::int32_t label, bool encoded) {
  append_varint(to, data_key);
  append_varint(to, data.size());
  append(to, data);
  append_number(to, label_key, label);
  append_number(to, encoded_key, encoded ? 1 : 0);
}

}  // namespace

Datum parse_datum(Bytes message) {
  Datum datum;
  WireReader reader(message);
  while (!reader.done()) {
    const std::uint64_t field_key = reader.read_varint();
    switch (field_key) {
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
        if (field_key < 8 || field_key >> 32 != 0) reader.damaged("has a field of number 0");
        reader.skip(static_cast<std::uint32_t>(field_key & 7));
    }
  }
  return datum;
}

void write_raw_datum(Shape shape, Bytes pixels, std::int32_t label, Buffer& message) {
  message.clear();
  append_number(message, channels_key, static_cast<std::int32_t>(shape.channels));
  append_number(message, height_key, static_cast<std::int32_t>(shape.height));
  append_number(message, width_key, static_cast<std::int32_t>(shape.width));
  append_tail(message, pixels, label, false);
}

void write_encoded_datum(Bytes image, std::int32_t label, Buffer& message) {
  message.clear();
  append_tail(message, image, label, true);
}

}  // namespace feedrate
