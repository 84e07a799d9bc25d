#include "formats/containers/record.h"

#include <gtest/gtest.h>

#include "formats/digest.h"
#include "tests/support/expect_error.h"

namespace feedrate {
namespace {

using testing::expect_error;
using namespace std::string_view_literals;

constexpr std::string_view magic = "\x0a\x23\xd7\xce"sv;

Buffer framed(std::string_view payload) {
  Buffer bytes;
  append_record(as_bytes(payload), bytes);
  return bytes;
}

std::string reread(Bytes file) {
  Buffer storage;
  const Record record = read_record(file, 0, storage);
  EXPECT_EQ(record.end, file.size());
  EXPECT_EQ(skip_record(file, 0), file.size());
  return std::string(as_text(record.payload));
}

// The bytes that dmlc-core's writer gives for the same payloads.
TEST(UnitRecord, a_payload_is_framed_and_padded_as_dmlc_does) {
  EXPECT_EQ(hex(framed("hello")), "0a23d7ce0500000068656c6c6f000000");
}

TEST(UnitRecord, a_magic_number_at_a_multiple_of_four_splits_the_record) {
  const std::string payload = "ABCD" + std::string(magic) + "xyz";
  EXPECT_EQ(hex(framed(payload)),
            "0a23d7ce0400002041424344"
            "0a23d7ce0300006078797a00");
  EXPECT_EQ(reread(framed(payload)), payload);
}

TEST(UnitRecord, an_unaligned_magic_number_is_left_as_it_is) {
  const std::string payload = "AB" + std::string(magic) + "xyz";
  EXPECT_EQ(hex(framed(payload)), "0a23d7ce0900000041420a23d7ce78797a000000");
  EXPECT_EQ(reread(framed(payload)), payload);
}

TEST(UnitRecord, payloads_made_of_magic_numbers_come_back) {
  for (int count = 0; count <= 4; ++count) {
    for (const std::string_view tail : {"", "x", "abcd"}) {
      std::string payload;
      for (int i = 0; i < count; ++i) payload += magic;
      payload += tail;
      EXPECT_EQ(reread(framed(payload)), payload);
    }
  }
}

TEST(UnitRecord, an_image_record_is_header_and_image) {
  Buffer payload, bytes;
  write_image_record(7, 42, as_bytes("\xff\xd8\xff"), payload);
  append_record(payload, bytes);
  EXPECT_EQ(hex(bytes), "0a23d7ce1b000000000000000000e0402a000000000000000000000000000000ffd8ff00");
  const ImageRecord record = parse_image_record(payload);
  EXPECT_EQ(record.label, 7);
  EXPECT_EQ(record.id, 42U);
  EXPECT_EQ(as_text(record.image), "\xff\xd8\xff");
}

TEST(UnitRecord, of_several_labels_the_first_counts) {
  Buffer payload;
  append_le(payload, std::uint32_t{2});
  append_le(payload, 0.0F);
  append_le(payload, std::uint64_t{1});
  append_le(payload, std::uint64_t{0});
  append_le(payload, 5.0F);
  append_le(payload, 0.25F);
  append(payload, as_bytes("image"));
  EXPECT_EQ(parse_image_record(payload).label, 5);
  EXPECT_EQ(as_text(parse_image_record(payload).image), "image");
}

TEST(HostileRecord, a_label_that_a_float_cannot_hold_is_refused) {
  Buffer payload;
  write_image_record(1 << 24, 0, {}, payload);
  EXPECT_EQ(parse_image_record(payload).label, 1 << 24);
  expect_error([&] { write_image_record((1 << 24) + 1, 0, {}, payload); }, {"16777217"});
}

TEST(HostileRecord, labels_that_are_no_classes_are_refused) {
  for (const float label : {0.5F, 3e9F, -3e9F, std::numeric_limits<float>::quiet_NaN(),
                            std::numeric_limits<float>::infinity()}) {
    Buffer payload;
    append_le(payload, std::uint32_t{0});
    append_le(payload, label);
    payload.resize(24);
    expect_error([&] { parse_image_record(payload); }, {"no class number"});
  }
}

TEST(HostileRecord, more_labels_than_bytes_are_refused) {
  Buffer payload(24);
  payload[3] = std::byte{0xff};
  expect_error([&] { parse_image_record(payload); }, {"no image record", "4278190080 labels"});
  expect_error([&] { parse_image_record(Bytes(payload).first(23)); }, {"23 bytes"});
}

TEST(HostileRecord, every_truncation_names_a_byte) {
  const Buffer whole = framed("ABCD" + std::string(magic) + "xyz");
  Buffer storage;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut = Bytes(whole).first(size);
    expect_error([&] { read_record(cut, 0, storage); }, {"byte ", "truncated"});
    expect_error([&] { skip_record(cut, 0); }, {"byte ", "truncated"});
  }
}

TEST(HostileRecord, parts_out_of_place_are_refused) {
  Buffer bytes = framed("hello");
  bytes[7] = std::byte{0x60};  // the last part of a split record
  Buffer storage;
  expect_error([&] { read_record(bytes, 0, storage); }, {"part 3"});
  bytes = framed(std::string(magic));
  bytes[15] = std::byte{0x20};  // a second first part
  expect_error([&] { read_record(bytes, 0, storage); }, {"part 1 inside"});
  expect_error([&] { read_record(bytes, 4, storage); }, {"byte 4", "no record starts here"});
}

}  // namespace
}  // namespace feedrate
