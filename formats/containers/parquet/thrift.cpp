#include "formats/containers/parquet/thrift.h"

#include "formats/base/error.h"

namespace feedrate::formats {
namespace {

constexpr unsigned max_depth = 32;  // Parquet's records have six
constexpr unsigned varint_bits = 64;

constexpr std::string_view names[] = {"nothing",
                                      "true",
                                      "false",
                                      "a byte",
                                      "a number of 16 bits",
                                      "a number of 32 bits",
                                      "a number of 64 bits",
                                      "a real number",
                                      "a text",
                                      "a list",
                                      "a set",
                                      "a map",
                                      "a record"};

}  // namespace

ThriftReader::Nesting::Nesting(ThriftReader& reader) : reader_(reader) {
  if (++reader.depth_ > max_depth) reader.refuse("records lie deeper in records than Parquet's do");
}

void ThriftReader::refuse(std::string_view what) const {
  throw Error(join("byte ", origin_ + at_, ": ", what));
}

ThriftReader::Type ThriftReader::type_of(unsigned code) {
  if (code > static_cast<unsigned>(Type::record)) return Type::map;  // refused by who reads it
  return static_cast<Type>(code);
}

std::uint8_t ThriftReader::byte() {
  if (at_ == bytes_.size()) refuse("the record has no end");
  return std::to_integer<std::uint8_t>(bytes_[at_++]);
}

std::uint64_t ThriftReader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < varint_bits; shift += 7) {
    const std::uint8_t next = byte();
    value |= static_cast<std::uint64_t>(next & 0x7fU) << shift;
    if ((next & 0x80U) == 0) return value;
  }
  refuse("a number has more than 64 bits");
}

std::int64_t ThriftReader::zigzag() {
  const std::uint64_t value = varint();
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

void ThriftReader::expect(Type found, Type expected) const {
  if (found == expected) return;
  refuse(join("expected ", names[static_cast<std::size_t>(expected)], ", found ",
              names[static_cast<std::size_t>(found)]));
}

std::int64_t ThriftReader::integer(Type found) {
  if (found == Type::byte) return static_cast<std::int8_t>(byte());
  if (found != Type::i16 && found != Type::i32) expect(found, Type::i64);
  return zigzag();
}

bool ThriftReader::yes_or_no(Type found) const {
  if (found != Type::no) expect(found, Type::yes);
  return found == Type::yes;
}

std::string_view ThriftReader::text(Type found) {
  expect(found, Type::text);
  const std::uint64_t size = varint();
  const std::size_t begin = at_;
  pass(size);
  return as_text(bytes_.subspan(begin, size));
}

std::uint64_t ThriftReader::begin_list(Type& of) {
  const std::uint8_t head = byte();
  of = type_of(head & 0x0fU);
  const std::uint64_t count = head >> 4 == 15 ? varint() : head >> 4;
  if (count > bytes_.size() - at_)
    refuse(join("a list states ", count, " elements, more than the bytes left"));
  return count;
}

std::uint64_t ThriftReader::begin_list(Type found, Type of) {
  expect(found, Type::list);
  Type stated{};
  const std::uint64_t count = begin_list(stated);
  if (count != 0) expect(stated, of);
  return count;
}

void ThriftReader::pass(std::uint64_t bytes) {
  if (bytes > bytes_.size() - at_) refuse("a value goes beyond the end");
  at_ += bytes;
}

void ThriftReader::skip(Type found) {
  switch (found) {
    case Type::yes:
    case Type::no:
      return;
    case Type::byte:
      return pass(1);
    case Type::i16:
    case Type::i32:
    case Type::i64:
      varint();
      return;
    case Type::real:
      return pass(sizeof(double));
    case Type::text:
      return pass(varint());
    case Type::list:
    case Type::set: {
      const Nesting nesting(*this);
      Type of{};
      for (std::uint64_t left = begin_list(of); left > 0; --left) {
        if (of == Type::yes || of == Type::no) {
          pass(1);  // in a list, a byte each
        } else {
          skip(of);
        }
      }
      return;
    }
    case Type::record:
      return record([this](std::int32_t, Type type) { skip(type); });
    case Type::stop:
    case Type::map:
      break;
  }
  refuse("Parquet has no value of this type");
}

}  // namespace feedrate::formats
