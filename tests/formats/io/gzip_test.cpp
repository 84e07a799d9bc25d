#include "formats/io/gzip.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "formats/base/error.h"
#include "formats/io/file.h"
#include "tests/support/expect_error.h"
#include "tests/support/from_hex.h"
#include "tests/support/temp_directory.h"

namespace feedrate::formats {
namespace {

using namespace feedrate::testing;

// Bytes that arrive a few at a time.
class Pieces final : public ByteStream {
 public:
  Pieces(std::string bytes, std::size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}

 private:
  Bytes fetch() override {
    const Bytes left = as_bytes(bytes_).subspan(at_);
    at_ += std::min(piece_, left.size());
    return left.first(std::min(piece_, left.size()));
  }

  std::string bytes_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

std::string unpacked(const std::string& bytes, std::size_t piece) {
  const auto stream = open_gunzip(std::make_unique<Pieces>(bytes, piece), "made.gz");
  std::string content;
  for (Bytes block = stream->next(); !block.empty(); block = stream->next()) {
    content += as_text(block);
  }
  return content;
}

// Repeats itself near and far, with parts that do not compress.
std::string made_content() {
  std::string content;
  std::uint32_t noise = 1;
  while (content.size() < 500'000) {
    noise = noise * 1664525U + 1013904223U;
    const bool copies = content.size() > 40'000 && (noise >> 30) != 0;
    content += copies ? content.substr(content.size() - (noise >> 17) - 1, 1 + (noise & 63))
                      : std::string(1, static_cast<char>(noise >> 24));
  }
  return content;
}

std::string packed(const std::string& content) {
  const TempDirectory directory;
  GzipFile file(directory / "made.gz");
  file.write(as_bytes(content));
  file.close();
  return read_text(directory / "made.gz");
}

TEST(UnitGzip, content_comes_back_whatever_the_pieces) {
  const std::string content = made_content();
  const std::string bytes = packed(content);
  for (const std::size_t piece : {std::size_t{97}, std::size_t{4096}, bytes.size()}) {
    EXPECT_TRUE(unpacked(bytes, piece) == content) << piece;
  }
  EXPECT_EQ(unpacked(packed("a"), 1), "a");
  EXPECT_EQ(unpacked(packed(""), 1), "");
}

TEST(UnitGzip, members_and_padding_come_in_any_pieces) {
  const std::string bytes = packed("one ") + packed("") + packed("two") + std::string(600, '\0');
  for (const std::size_t piece : {1U, 2U, 7U, 1000U}) EXPECT_EQ(unpacked(bytes, piece), "one two");
}

// With an extra field, a name, a comment and a header checksum; made by a Python script that puts
// the fields in front of zlib's output.
constexpr std::string_view with_every_field =
    "1f8b081e00000000000303006162636e616d6500636f6d6d656e740079712bc9485548cecf2b49cd2b010073"
    "9d676b0b000000";

TEST(UnitGzip, a_header_with_every_field_is_passed_over) {
  const std::string bytes = from_hex(with_every_field);
  for (const std::size_t piece : {1U, 3U, 1000U}) EXPECT_EQ(unpacked(bytes, piece), "the content");
}

TEST(HostileGzip, a_wrong_header_checksum_is_an_error) {
  std::string bytes = from_hex(with_every_field);
  bytes[bytes.find("name")] = 'N';
  expect_error([&] { unpacked(bytes, 1000); },
               {"made.gz", "damaged", "checksum of the gzip header"});
}

TEST(HostileGzip, a_header_of_another_kind_is_an_error) {
  const std::string good = packed("a");
  const auto changed = [&](std::size_t at, char value) {
    std::string bytes = good;
    bytes[at] = value;
    return bytes;
  };
  expect_error([&] { unpacked(changed(1, 'x'), 1); }, {"made.gz", "invalid gzip header"});
  expect_error([&] { unpacked(changed(2, 7), 1); }, {"byte 3", "unknown compression method"});
  expect_error([&] { unpacked(changed(3, 0x20), 1); }, {"byte 4", "unknown flags"});
}

TEST(HostileGzip, every_cut_is_an_error_in_any_pieces) {
  const std::string bytes = packed("one ") + packed("two");
  const std::size_t member = packed("one ").size();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    if (size == member) continue;  // a complete file of one member
    for (const std::size_t piece : {1U, 5U, 1000U}) {
      expect_error([&] { unpacked(bytes.substr(0, size), piece); },
                   {"made.gz", "cut off after " + std::to_string(size)});
    }
  }
}

// The bits between the end of the data and the next byte have no meaning.
TEST(HostileGzip, every_flipped_bit_is_an_error_or_means_nothing) {
  const std::string content = "some content that is not so short";
  const std::string bytes = packed(content);
  std::size_t unnoticed = 0;
  for (std::size_t bit = 8 * 10; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    try {
      EXPECT_EQ(unpacked(damaged, 1000), content);
      ++unnoticed;
    } catch (const Error& error) {
      EXPECT_TRUE(std::string_view(error.what()).starts_with("made.gz: the gzip data"));
    }
  }
  EXPECT_LT(unnoticed, 8U);
}

TEST(HostileGzip, what_came_before_a_fault_is_handed_out_and_the_fault_stays) {
  const std::string content = made_content();
  std::string bytes = packed(content);
  bytes.resize(bytes.size() / 2);
  const auto stream = open_gunzip(std::make_unique<Pieces>(bytes, 5000), "made.gz");
  std::string before;
  const auto read_on = [&] {
    for (Bytes block = stream->next(); !block.empty(); block = stream->next()) {
      before += as_text(block);
    }
  };
  expect_error(read_on, {"cut off"});
  EXPECT_GT(before.size(), 40'000U);
  EXPECT_TRUE(content.starts_with(before));
  expect_error(read_on, {"cut off"});
}

// What Python's zlib.compress makes of "feedrate" 3 times.
constexpr std::string_view zlib_stream = "789c4b4b4d4d294a2c494d43a301798f09c1";

TEST(UnitGzip, a_zlib_stream_is_inflated_and_its_checksum_compared) {
  const std::string sound = from_hex(zlib_stream);
  const auto inflated = [](std::string bytes, std::size_t piece) {
    const auto stream = open_zlib(std::make_unique<Pieces>(std::move(bytes), piece), "made.zz");
    std::string content;
    for (Bytes block = stream->next(); !block.empty(); block = stream->next())
      content += as_text(block);
    return content;
  };
  for (const std::size_t piece : {1, 3, 100}) {
    EXPECT_EQ(inflated(sound, piece), "feedratefeedratefeedrate");
    expect_error([&] { inflated(sound.substr(0, sound.size() - 1), piece); },
                 {"made.zz: the zlib data", "cut off"});
    expect_error([&] { inflated(sound + "x", piece); },
                 {"the zlib data ends at", "something else"});
    std::string damaged = sound;
    damaged.back() ^= 1;
    expect_error([&] { inflated(damaged, piece); }, {"the zlib data is damaged", "checksum"});
    damaged = sound;
    damaged[0] = 0x79;
    expect_error([&] { inflated(damaged, piece); }, {"the zlib data is damaged"});
  }
}

}  // namespace
}  // namespace feedrate::formats
