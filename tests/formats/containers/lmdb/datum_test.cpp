#include "formats/containers/lmdb/datum.h"

#include <gtest/gtest.h>

#include "formats/digests/digest.h"
#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using namespace std::string_view_literals;

Buffer raw_datum(Shape shape, Bytes pixels, std::int32_t label) {
  DatumFrame frame;
  frame_raw_datum(shape, label, frame);
  append(frame.head, pixels);
  append(frame.head, frame.tail);
  return frame.head;
}

Buffer encoded_datum(Bytes image, std::int32_t label) {
  DatumFrame frame;
  frame_encoded_datum(image.size(), label, frame);
  append(frame.head, image);
  append(frame.head, frame.tail);
  return frame.head;
}

TEST(UnitDatum, mnist_is_written_as_caffe_writes_it_and_field_7_follows) {
  const Buffer pixels(784, std::byte{0x5a});
  const Buffer message = raw_datum({28, 28, 1}, pixels, 3);
  EXPECT_EQ(message.size(), 797U);  // Caffe's 795 bytes and 38 00
  EXPECT_EQ(hex(Bytes(message).first(9)), "0801101c181c229006");
  EXPECT_EQ(hex(Bytes(message).last(4)), "28033800");
}

TEST(UnitDatum, cifar_is_written_as_caffe_writes_it) {
  const Buffer message = raw_datum({32, 32, 3}, Buffer(3072), 0);
  EXPECT_EQ(hex(Bytes(message).first(9)), "080310201820228018");
  EXPECT_EQ(hex(Bytes(message).last(4)), "28003800");
}

TEST(UnitDatum, an_encoded_image_states_no_shape) {
  const Buffer message = encoded_datum(as_bytes("abc"), 300);
  EXPECT_EQ(hex(message),
            "2203616263"
            "28ac02"
            "3801");
  const Datum datum = parse_datum(message);
  EXPECT_TRUE(datum.encoded);
  EXPECT_EQ(datum.label, 300);
  EXPECT_EQ(datum.shape, Shape{});
  EXPECT_EQ(as_text(datum.data), "abc");
}

TEST(UnitDatum, a_negative_label_takes_ten_bytes_and_comes_back) {
  const Buffer message = encoded_datum({}, -2);
  EXPECT_EQ(hex(message),
            "2200"
            "28feffffffffffffffff01"
            "3801");
  EXPECT_EQ(parse_datum(message).label, -2);
}

TEST(UnitDatum, fields_may_come_in_any_order_twice_or_unknown) {
  // label 9 | unknown 8: varint | unknown 9: bytes | unknown 10: fixed64 | data | width 2 | label 5
  const std::string_view message =
      "\x28\x09"
      "\x40\x96\x01"
      "\x4a\x02zz"
      "\x51"
      "12345678"
      "\x22\x01x"
      "\x18\x02"
      "\x28\x05"sv;
  const Datum datum = parse_datum(as_bytes(message));
  EXPECT_EQ(datum.label, 5);
  EXPECT_EQ(datum.shape.width, 2U);
  EXPECT_EQ(as_text(datum.data), "x");
  EXPECT_FALSE(datum.encoded);
}

TEST(UnitDatum, floats_are_noticed_packed_or_not) {
  EXPECT_TRUE(parse_datum(as_bytes("\x35\0\0\x80\x3f"sv)).has_floats);
  EXPECT_TRUE(parse_datum(as_bytes("\x32\x04\0\0\x80\x3f"sv)).has_floats);
  EXPECT_FALSE(parse_datum({}).has_floats);
}

TEST(HostileDatum, every_truncation_is_an_error_or_a_shorter_message) {
  const Buffer message = raw_datum({4, 4, 1}, Buffer(16), 200);
  for (std::size_t size = 0; size < message.size(); ++size) {
    try {
      const Datum datum = parse_datum(Bytes(message).first(size));
      // Cut between fields it is whole as far as protobuf knows; then later fields are missing.
      EXPECT_TRUE(datum.data.empty() || size >= 24) << size;
    } catch (const Error& error) {
      EXPECT_NE(std::string_view(error.what()).find("Datum"), std::string_view::npos);
    }
  }
}

TEST(HostileDatum, lengths_beyond_the_message_are_named) {
  expect_error(
      [] {
        parse_datum(
            as_bytes("\x22\x05"
                     "abc"sv));
      },
      {"states 5 bytes", "3 are left"});
  expect_error([] { parse_datum(as_bytes("\x22\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv)); },
               {"states 18446744073709551615 bytes"});
  expect_error([] { parse_datum(as_bytes("\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv)); },
               {"more than 10 bytes"});
  expect_error([] { parse_datum(as_bytes("\x35\0\0"sv)); }, {"ends inside a number"});
  expect_error([] { parse_datum(as_bytes("\x0f"sv)); }, {"type 7"});
  expect_error([] { parse_datum(as_bytes("\0\0"sv)); }, {"number 0"});
}

}  // namespace
}  // namespace feedrate::formats
