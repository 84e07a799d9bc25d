#pragma once
// Protobuf's wire format, read in place and written by appending: the basis of Caffe's Datum
// and TensorFlow's Example. Values; nothing is copied or allocated.
//
//   message: (key value)…   key: varint, field << 3 | type   delimited: varint length, then bytes

#include <cstdint>
#include <string_view>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// How a field's value is stored: the lowest three bits of its key.
enum class Wire : std::uint32_t { varint = 0, fixed64 = 1, delimited = 2, fixed32 = 5 };

constexpr std::uint32_t wire_key(std::uint32_t field, Wire type) {
  return field << 3 | static_cast<std::uint32_t>(type);
}

/// Takes the fields of a message in order. Every read throws Error on damage; the text begins with
/// `what` and names the byte.
class WireReader {
 public:
  /// `what` is like "no Caffe Datum, or a damaged one". It and the message must outlive the reader.
  WireReader(Bytes message, std::string_view what)
      : whole_(message), what_(what), at_(message.data()), end_(message.data() + message.size()) {}

  bool done() const { return at_ == end_; }
  /// Offset in the outermost message of the byte to be read next.
  std::size_t position() const { return static_cast<std::size_t>(at_ - whole_.data()); }

  /// The next field's key, to compare with wire_key(…).
  std::uint32_t read_key() {
    const std::uint64_t key = read_varint();
    if (key < 8 || key >> 32 != 0) bad_key(key);
    return static_cast<std::uint32_t>(key);
  }

  std::uint64_t read_varint() {
    if (at_ != end_ && *at_ < std::byte{0x80}) return std::to_integer<std::uint64_t>(*at_++);
    return read_long_varint();
  }

  Bytes read_delimited() {
    const std::uint64_t size = read_varint();
    if (size > left()) too_long(size);
    return take(static_cast<std::size_t>(size));
  }

  /// A delimited field as a message of its own; its errors count bytes from the outermost one.
  WireReader read_message() {
    WireReader inner = *this;
    inner.at_ = read_delimited().data();
    inner.end_ = at_;
    return inner;
  }

  /// A fixed32 or fixed64 field: a number of that size.
  template <class T>
  T read_fixed() {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8);
    if (left() < sizeof(T)) damaged("ends inside a number");
    return load_le<T>(take(sizeof(T)).data());
  }

  /// Skips the value that follows `key`.
  void skip(std::uint32_t key);

  [[noreturn]] void damaged(std::string_view how) const;

 private:
  std::uint64_t read_long_varint();
  [[noreturn]] void bad_key(std::uint64_t key) const;
  [[noreturn]] void too_long(std::uint64_t size) const;

  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  Bytes take(std::size_t size) {
    const Bytes taken(at_, size);
    at_ += size;
    return taken;
  }

  Bytes whole_;  // the outermost message
  std::string_view what_;
  const std::byte* at_;
  const std::byte* end_;
};

/// Bytes that append_varint appends: 1 … 10.
constexpr std::size_t varint_size(std::uint64_t value) {
  std::size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

inline void append_varint(Buffer& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<std::byte>(value | 0x80));
  to.push_back(static_cast<std::byte>(value));
}

/// A signed number as int32 and int64 fields store it: a negative one takes ten bytes.
inline void append_varint_field(Buffer& to, std::uint32_t key, std::int64_t value) {
  append_varint(to, key);
  append_varint(to, static_cast<std::uint64_t>(value));
}

inline void append_delimited_field(Buffer& to, std::uint32_t key, Bytes value) {
  append_varint(to, key);
  append_varint(to, value.size());
  append(to, value);
}

}  // namespace feedrate::formats
