#include "formats/containers/recordio/record.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "formats/digests/digest.h"
#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using namespace std::string_view_literals;

constexpr std::string_view magic = "\x0a\x23\xd7\xce"sv;

// Frames the payload in two parts, the first of `head` bytes.
Buffer framed(std::string_view payload, std::size_t head = 0) {
  Buffer bytes;
  frame_record(as_bytes(payload.substr(0, head)), as_bytes(payload.substr(head)),
               [&](Bytes piece) { append(bytes, piece); });
  return bytes;
}

std::string reread(Bytes file) {
  Buffer storage;
  const Record record = read_record(file, 0, storage);
  EXPECT_EQ(record.end, file.size());
  EXPECT_EQ(skip_record(file, 0), file.size());
  return std::string(as_text(record.payload));
}

// The bytes that dmlc-core's writer produces for the same payloads.
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
      const Buffer whole = framed(payload);
      EXPECT_EQ(reread(whole), payload);
      for (std::size_t head = 4; head <= payload.size(); head += 4) {
        EXPECT_EQ(framed(payload, head), whole) << "in two pieces, of which the first has " << head;
      }
    }
  }
}

TEST(UnitRecord, the_magic_number_is_found_at_any_multiple_of_four) {
  for (const std::size_t size : {4U, 8U, 252U, 256U, 260U, 1024U, 1027U}) {
    const Buffer none(size, std::byte{0x0a});
    EXPECT_EQ(find_record_magic(none, 0), size);
    for (std::size_t at = 0; at + 4 <= size; ++at) {
      Buffer payload = none;
      std::ranges::copy(as_bytes(magic), payload.begin() + static_cast<long>(at));
      EXPECT_EQ(find_record_magic(payload, 0), at % 4 == 0 ? at : size);
      EXPECT_EQ(find_record_magic(payload, 4), at % 4 == 0 && at >= 4 ? at : size);
    }
  }
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
}  // namespace feedrate::formats
