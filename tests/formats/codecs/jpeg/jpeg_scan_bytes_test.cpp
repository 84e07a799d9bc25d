#include "formats/codecs/jpeg/jpeg_scan_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/fenced_bytes.h"

namespace feedrate::formats {
namespace {

using namespace std::string_view_literals;

Buffer stuffed(Bytes plain) {
  Buffer raw;
  for (const std::byte byte : plain) {
    raw.push_back(byte);
    if (byte == std::byte{0xff}) raw.push_back(std::byte{0});
  }
  return raw;
}

// All bytes, read in steps of up to `step`.
Buffer all_of(ScanBytes& bytes, std::size_t step) {
  Buffer all;
  const std::byte* next = bytes.begin();
  for (;;) {
    next = bytes.slide(next);
    const auto left = bytes.end() - next;
    if (left <= 0) return all;
    const auto taken = std::min(static_cast<std::size_t>(left), step);
    append(all, {next, taken});
    next += taken;
  }
}

TEST(UnitJpegScanBytes, stuffing_disappears_wherever_an_ff_lies) {
  std::mt19937 random(1);
  ScanBytes bytes;
  for (const unsigned rarity : {1U, 2U, 7U, 300U}) {
    for (const std::size_t size : {0U, 1U, 2U, 7U, 8U, 9U, 40U, 5000U, 8192U, 30000U}) {
      Buffer plain(size);
      for (std::byte& byte : plain) {
        byte = random() % rarity == 0 ? std::byte{0xff} : std::byte(random() % 255);
      }
      Buffer raw = stuffed(plain);
      append(raw, as_bytes("\xff\xd9 and more"sv));
      const testing::FencedBytes fenced(raw, testing::Fence::behind);
      bytes.start(fenced.bytes());
      // A step is at most the largest MCU.
      ASSERT_EQ(all_of(bytes, ScanBytes::readable - 32), plain) << size;
      EXPECT_TRUE(bytes.ended());
      EXPECT_EQ(as_text(bytes.rest()), "\xff\xd9 and more"sv);
    }
  }
}

TEST(UnitJpegScanBytes, what_may_be_read_ahead_lies_in_the_window) {
  Buffer raw(20000, std::byte{0x55});
  append(raw, as_bytes("\xff\xd9"sv));
  ScanBytes bytes;
  bytes.start(raw);
  const std::byte* next = bytes.begin();
  for (int i = 0; i < 8; ++i) {
    next = bytes.slide(next);
    EXPECT_TRUE(std::all_of(next, next + ScanBytes::readable,
                            [](std::byte byte) { return byte == std::byte{0x55}; }));
    next += ScanBytes::readable - 32;
  }
}

// A reader that holds bytes in a register puts them back before its place is lent.
TEST(UnitJpegScanBytes, what_lies_in_front_of_next_stays_when_the_window_slides) {
  Buffer plain(40000);
  std::mt19937 random(2);
  for (std::byte& byte : plain) byte = std::byte(random() % 255);
  Buffer raw = plain;
  append(raw, as_bytes("\xff\xd9"sv));
  ScanBytes bytes;
  bytes.start(raw);
  const std::byte* next = bytes.begin();
  for (std::size_t at = 0; at < plain.size(); at += 61) {
    next = bytes.slide(next);
    ASSERT_EQ(bytes.offset(next), at);
    const std::size_t kept = std::min(at, ScanBytes::kept);
    ASSERT_TRUE(std::ranges::equal(Bytes(next - kept, kept), Bytes(plain).subspan(at - kept, kept)))
        << at;
    next += 61;
  }
}

TEST(HostileJpegScanBytes, without_a_marker_the_last_bytes_are_not_to_be_used) {
  ScanBytes bytes;
  for (const std::string_view end : {""sv, "\xff"sv, "\xff\xff"sv, "\xff\xff\0\x12"sv}) {
    Buffer raw(100, std::byte{0x12});
    append(raw, as_bytes(end));
    const testing::FencedBytes fenced(raw, testing::Fence::behind);
    bytes.start(fenced.bytes());
    EXPECT_EQ(all_of(bytes, 50).size(), 84U);
    EXPECT_TRUE(bytes.rest().empty());
  }
}

}  // namespace
}  // namespace feedrate::formats
