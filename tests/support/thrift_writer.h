#pragma once
// A writer of Thrift's compact protocol, for the heads and footers of Parquet files.

#include <cstdint>
#include <string_view>
#include <utility>

#include "formats/base/bytes.h"

namespace feedrate::testing {
using namespace formats;

namespace detail {

/// Thrift's compact protocol.
class ThriftWriter {
 public:
  Buffer bytes;
  void number(std::int32_t field, std::int64_t value, bool wide = false) {
    head(field, wide ? 6 : 5);
    zigzag(value);
  }
  void yes_or_no(std::int32_t field, bool value) { head(field, value ? 1 : 2); }
  void text(std::int32_t field, std::string_view value) {
    head(field, 8);
    plain_text(value);
  }
  void plain_text(std::string_view value) {
    varint(value.size());
    append(bytes, as_bytes(value));
  }
  void list(std::int32_t field, std::size_t count, unsigned type) {
    head(field, 9);
    byte(static_cast<unsigned>(count < 15 ? count << 4 : 0xf0U) | type);
    if (count >= 15) varint(count);
  }
  void zigzag(std::int64_t value) {
    varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }
  /// A record as a field, or, with the field 0, as an element of a list.
  template <class Body>
  void record(std::int32_t field, const Body& body) {
    if (field != 0) head(field, 12);
    const std::int32_t before = std::exchange(last_, 0);
    body();
    byte(0);
    last_ = before;
  }

 private:
  void byte(unsigned value) { bytes.push_back(static_cast<std::byte>(value)); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<unsigned>(value & 0x7f) | 0x80U);
    byte(static_cast<unsigned>(value));
  }
  void head(std::int32_t field, unsigned type) {
    byte(static_cast<unsigned>(field - last_) << 4 | type);
    last_ = field;
  }
  std::int32_t last_ = 0;
};

}  // namespace detail
}  // namespace feedrate::testing
