#pragma once
// Thrift's compact protocol, in which Parquet writes its footer and the heads of its pages.

#include <cstdint>
#include <string_view>

#include "formats/base/bytes.h"

namespace feedrate::formats {

/// Reads one value after the other from bytes that may hold anything. One thread. Every member
/// throws Error, without naming the file, for what is not Thrift or goes beyond the bytes; the
/// offsets that it names count from `origin`.
class ThriftReader {
 public:
  enum class Type : std::uint8_t {
    stop,
    yes,
    no,
    byte,
    i16,
    i32,
    i64,
    real,
    text,
    list,
    set,
    map,
    record,
  };

  ThriftReader(Bytes bytes, std::uint64_t origin) : bytes_(bytes), origin_(origin) {}

  /// Calls field(number, type) for each field of a record; it reads the value, or skips it.
  template <class Field>
  void record(const Field& field) {
    const Nesting nesting(*this);
    std::int32_t number = 0;
    for (;;) {
      const std::uint8_t head = byte();
      const Type type = type_of(head & 0x0fU);
      if (type == Type::stop) return;
      const std::int32_t step = head >> 4;
      number = step == 0 ? static_cast<std::int32_t>(zigzag()) : number + step;
      field(number, type);
    }
  }
  /// Calls each() for each element of a list of values of `of`.
  template <class Each>
  void list(Type found, Type of, const Each& each) {
    const Nesting nesting(*this);
    for (std::uint64_t left = begin_list(found, of); left > 0; --left) each();
  }

  /// A number of 8 to 64 bits. `found` is the field's type, which must be that of one.
  std::int64_t integer(Type found);
  bool yes_or_no(Type found) const;
  /// Views the bytes.
  std::string_view text(Type found);
  /// Passes over a value of any type.
  void skip(Type found);

  /// How many bytes have been read.
  std::size_t position() const { return at_; }

 private:
  // Records in records: a forged file must not exhaust the stack.
  struct Nesting {
    explicit Nesting(ThriftReader& reader);
    ~Nesting() { --reader_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    ThriftReader& reader_;
  };

  [[noreturn]] void refuse(std::string_view what) const;
  static Type type_of(unsigned code);
  std::uint8_t byte();
  std::uint64_t varint();
  std::int64_t zigzag();
  void expect(Type found, Type expected) const;
  /// The number of elements, each of which takes a byte at least.
  std::uint64_t begin_list(Type found, Type of);
  std::uint64_t begin_list(Type& of);
  void pass(std::uint64_t bytes);

  Bytes bytes_;
  std::uint64_t origin_;
  std::size_t at_ = 0;
  unsigned depth_ = 0;
};

}  // namespace feedrate::formats
