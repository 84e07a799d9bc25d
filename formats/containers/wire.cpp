#include "formats/containers/wire.h"

#include "formats/base/error.h"

namespace feedrate::formats {

std::uint64_t WireReader::read_long_varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (done()) damaged("ends inside a number");
    const auto byte = std::to_integer<std::uint64_t>(*at_++);
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  damaged("has a number of more than 10 bytes");
}

void WireReader::skip(std::uint32_t key) {
  switch (static_cast<Wire>(key & 7)) {
    case Wire::varint:
      read_varint();
      return;
    case Wire::delimited:
      read_delimited();
      return;
    case Wire::fixed32:
      read_fixed<std::uint32_t>();
      return;
    case Wire::fixed64:
      read_fixed<std::uint64_t>();
      return;
  }
  damaged(join("has a field of type ", key & 7, ", which protobuf does not know"));
}

void WireReader::damaged(std::string_view how) const {
  throw Error(join(what_, ": byte ", position(), " of ", whole_.size(), " ", how));
}

void WireReader::bad_key(std::uint64_t key) const {
  damaged(key < 8 ? "has a field of number 0" : "has a field of a number beyond protobuf's");
}

void WireReader::too_long(std::uint64_t size) const {
  damaged(join("states ", size, " bytes where ", left(), " are left"));
}

}  // namespace feedrate::formats
