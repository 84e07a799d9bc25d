#include "formats/io/byte_stream.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/support/expect_error.h"

namespace feedrate::formats {
namespace {

using namespace std::string_view_literals;
using testing::expect_error;

class Given final : public ByteStream {
 public:
  explicit Given(std::string_view bytes) : left_(as_bytes(bytes)) {}

 private:
  Bytes fetch() override { return std::exchange(left_, {}); }
  Bytes left_;
};

// Nothing, as the programs of these names compress it.
constexpr std::pair<std::string_view, std::string_view> empty[] = {
    {".zst", "\x28\xb5\x2f\xfd\x24\x00\x01\x00\x00\x99\xe9\xd8\x51"sv},
    {".bz2", "BZh9\x17\x72\x45\x38\x50\x90\x00\x00\x00\x00"sv},
    {".xz",
     "\xfd\x37zXZ\x00\x00\x04\xe6\xd6\xb4\x46\x00\x00\x00\x00\x1c\xdf\x44\x21\x1f\xb6\xf3\x7d\x01\x00\x00\x00\x00\x04YZ"sv},
    {".gz", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"sv}};

TEST(UnitByteStream, compressed_content_may_be_empty) {
  for (const auto& [suffix, bytes] : empty) {
    const Decompressed found = decompress(std::make_unique<Given>(bytes), "it");
    EXPECT_EQ(found.suffix, suffix);
    EXPECT_TRUE(found.stream->next().empty()) << suffix;
    EXPECT_TRUE(found.stream->next().empty()) << suffix;
  }
}

// What is cut off before its first byte is not empty.
TEST(HostileByteStream, compressed_content_that_is_cut_off_is_refused) {
  for (const auto& [suffix, bytes] : empty) {
    for (std::size_t size = 6; size < bytes.size(); ++size) {
      const auto read = [&] {
        const auto stream = decompress(std::make_unique<Given>(bytes.substr(0, size)), "it").stream;
        while (!stream->next().empty()) {
        }
      };
      expect_error(read, {"it"});
    }
  }
}

}  // namespace
}  // namespace feedrate::formats
