#include "formats/containers/tfrecord/tf_record.h"

#include <gtest/gtest.h>

#include "formats/digests/digest.h"
#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

using testing::expect_error;
using namespace std::string_view_literals;

Buffer framed(std::string_view data) {
  const Bytes parts[] = {as_bytes(data)};
  const TfFrame frame = frame_tf_record(parts);
  std::string text(as_text(frame.head));
  text += data;
  text += as_text(frame.tail);
  const Bytes bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

std::uint64_t end_of(Bytes file, std::uint64_t at) {
  return tf_record_end(file.subspan(std::min<std::uint64_t>(at, file.size())), at, file.size());
}

TEST(UnitTfRecord, the_crc_is_castagnoli_s_and_masked) {
  EXPECT_EQ(crc32c(as_bytes("123456789")), 0xE3069283U);
  EXPECT_EQ(mask_crc32c(crc32c(as_bytes("123456789"))), 0xC78AB0E5U);
  EXPECT_EQ(crc32c({}), 0U);
  EXPECT_EQ(crc32c(as_bytes("6789"), crc32c(as_bytes("12345"))), 0xE3069283U);
}

TEST(UnitTfRecord, records_are_framed_as_tensorflow_frames_them) {
  EXPECT_EQ(hex(framed("")), "000000000000000029039807d8ea82a2");
  EXPECT_EQ(hex(framed("abc")), "0300000000000000b099490e6162636e57f121");
}

TEST(UnitTfRecord, the_frame_of_parts_is_that_of_the_whole) {
  const Bytes parts[] = {as_bytes("a"), {}, as_bytes("bc")};
  const TfFrame frame = frame_tf_record(parts);
  EXPECT_EQ(hex(frame.head), "0300000000000000b099490e");
  EXPECT_EQ(hex(frame.tail), "6e57f121");
}

TEST(UnitTfRecord, records_are_read_in_place_one_after_the_other) {
  Buffer file = framed("abc");
  append(file, framed(""));
  append(file, framed("defghijklmnopqrstuvwxyz"));
  EXPECT_EQ(as_text(read_tf_record(file, 0)), "abc");
  EXPECT_EQ(read_tf_record(file, 0).data(), file.data() + tf_record_head);
  EXPECT_EQ(end_of(file, 0), 19U);
  EXPECT_TRUE(read_tf_record(file, 19).empty());
  EXPECT_EQ(end_of(file, 19), 35U);
  EXPECT_EQ(as_text(read_tf_record(file, 35)), "defghijklmnopqrstuvwxyz");
  EXPECT_EQ(end_of(file, 35), file.size());
}

TEST(UnitTfRecord, a_file_is_known_by_the_crc_of_its_first_length) {
  EXPECT_TRUE(is_tf_record(framed("")));
  EXPECT_TRUE(is_tf_record(Bytes(framed("abc")).first(tf_record_head)));
  EXPECT_FALSE(is_tf_record(Bytes(framed("abc")).first(tf_record_head - 1)));
  EXPECT_FALSE(is_tf_record(Buffer(64)));
  EXPECT_FALSE(is_tf_record(as_bytes("train/0.png\t3\n")));
}

TEST(HostileTfRecord, every_truncation_names_the_byte) {
  const Buffer whole = framed("abc");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes cut = Bytes(whole).first(size);
    expect_error([&] { read_tf_record(cut, 0); }, {"byte 0", "truncated"});
    expect_error([&] { end_of(cut, 0); }, {"byte 0", "truncated"});
  }
  expect_error([&] { end_of(whole, whole.size() + 1); }, {"byte 20", "ends at 19"});
}

TEST(HostileTfRecord, every_flipped_bit_is_noticed) {
  const Buffer whole = framed("abc");
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Buffer damaged = whole;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    const bool in_head = bit < 8 * tf_record_head;
    expect_error([&] { read_tf_record(damaged, 0); },
                 {"corrupted record", in_head ? "byte 0" : "byte 12"});
    EXPECT_EQ(is_tf_record(damaged), !in_head);
  }
}

TEST(HostileTfRecord, huge_lengths_with_a_good_crc_do_not_wrap_around) {
  for (const std::uint64_t length : {std::uint64_t{4}, ~std::uint64_t{0}, ~std::uint64_t{15},
                                     std::uint64_t{1} << 63, ~std::uint64_t{0} - 3}) {
    Buffer file;
    append_le(file, length);
    append_le(file, mask_crc32c(crc32c(file)));
    append(file, as_bytes("abcdefg"));
    expect_error([&] { read_tf_record(file, 0); }, {"truncated", std::to_string(length)});
    expect_error([&] { end_of(file, 0); }, {"truncated", std::to_string(length)});
  }
}

}  // namespace
}  // namespace feedrate::formats
