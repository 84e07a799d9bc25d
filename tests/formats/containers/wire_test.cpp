#include "formats/containers/wire.h"

#include <gtest/gtest.h>

#include "formats/digests/digest.h"
#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using namespace std::string_view_literals;

WireReader reader_of(std::string_view message) { return {as_bytes(message), "no such message"}; }

TEST(UnitWire, numbers_of_every_length_come_back) {
  for (unsigned bits = 0; bits <= 64; ++bits) {
    const std::uint64_t value = bits == 64 ? ~std::uint64_t{0} : std::uint64_t{1} << bits;
    for (const std::uint64_t number : {value, value - 1}) {
      Buffer bytes;
      append_varint(bytes, number);
      EXPECT_EQ(bytes.size(), varint_size(number));
      WireReader reader(bytes, "");
      EXPECT_EQ(reader.read_varint(), number);
      EXPECT_TRUE(reader.done());
    }
  }
}

TEST(UnitWire, fields_are_written_as_protobuf_documents_them) {
  Buffer bytes;
  append_varint_field(bytes, wire_key(1, Wire::varint), 150);
  append_varint_field(bytes, wire_key(1, Wire::varint), -1);
  append_delimited_field(bytes, wire_key(2, Wire::delimited), as_bytes("testing"));
  append_varint(bytes, wire_key(16, Wire::fixed32));
  EXPECT_EQ(hex(bytes),
            "089601"
            "08ffffffffffffffffff01"
            "120774657374696e67"
            "8501");
}

TEST(UnitWire, every_kind_of_field_is_read_and_skipped) {
  const std::string_view message =
      "\x08\x96\x01"
      "\x11\0\0\0\0\0\0\xf0\x3f"
      "\x1a\x02zz"
      "\x25\0\0\x80\x3f"sv;
  WireReader skipping = reader_of(message);
  while (!skipping.done()) skipping.skip(skipping.read_key());
  EXPECT_EQ(skipping.position(), message.size());

  WireReader reader = reader_of(message);
  EXPECT_EQ(reader.read_key(), wire_key(1, Wire::varint));
  EXPECT_EQ(reader.read_varint(), 150U);
  EXPECT_EQ(reader.read_key(), wire_key(2, Wire::fixed64));
  EXPECT_EQ(reader.read_fixed<double>(), 1.0);
  EXPECT_EQ(reader.read_key(), wire_key(3, Wire::delimited));
  EXPECT_EQ(as_text(reader.read_delimited()), "zz");
  EXPECT_EQ(reader.read_key(), wire_key(4, Wire::fixed32));
  EXPECT_EQ(reader.read_fixed<float>(), 1.0F);
  EXPECT_TRUE(reader.done());
}

TEST(UnitWire, a_message_inside_ends_where_it_says) {
  WireReader outer = reader_of("\x0a\x02\x08\x07\x10\x09"sv);
  EXPECT_EQ(outer.read_key(), wire_key(1, Wire::delimited));
  WireReader inner = outer.read_message();
  EXPECT_EQ(inner.read_key(), wire_key(1, Wire::varint));
  EXPECT_EQ(inner.read_varint(), 7U);
  EXPECT_TRUE(inner.done());
  EXPECT_EQ(outer.read_key(), wire_key(2, Wire::varint));
  EXPECT_EQ(outer.read_varint(), 9U);
  EXPECT_TRUE(outer.done());
}

TEST(HostileWire, damage_is_named_with_its_byte_in_the_outermost_message) {
  const auto skip_all = [](std::string_view message) {
    WireReader reader = reader_of(message);
    while (!reader.done()) reader.skip(reader.read_key());
  };
  expect_error([&] { skip_all("\x08"sv); }, {"no such message: byte 1 of 1", "inside a number"});
  expect_error([&] { skip_all("\x08\xff"sv); }, {"byte 2 of 2", "inside a number"});
  expect_error([&] { skip_all("\x1a\x03zz"sv); }, {"states 3 bytes where 2 are left"});
  expect_error([&] { skip_all("\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv); },
               {"states 18446744073709551615 bytes where 0"});
  expect_error([&] { skip_all("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv); },
               {"more than 10 bytes"});
  expect_error([&] { skip_all("\x25\0\0\0"sv); }, {"inside a number"});
  expect_error([&] { skip_all("\x11\0\0\0\0\0\0\0"sv); }, {"inside a number"});
  expect_error([&] { skip_all("\x0b"sv); }, {"type 3"});
  expect_error([&] { skip_all("\x07"sv); }, {"number 0"});
  expect_error([&] { skip_all("\xff\xff\xff\xff\xff\x01"sv); }, {"beyond protobuf's"});
  WireReader outer = reader_of("\x0a\x02\x1a\x05\x08\x01"sv);
  outer.read_key();
  WireReader inner = outer.read_message();
  inner.read_key();
  expect_error([&] { inner.read_delimited(); }, {"byte 4 of 6", "5 bytes where 0 are left"});
}

}  // namespace
}  // namespace feedrate::formats
