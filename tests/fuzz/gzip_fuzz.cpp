// gzip, and input with the magic of bzip2, xz or zstd, read in one block or in small ones.

#include <zlib.h>

#include "formats/io/byte_stream.h"
#include "formats/io/file.h"
#include "formats/io/gzip.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 20;  // enough of a decompression bomb

class MemoryStream final : public ByteStream {
 public:
  MemoryStream(Bytes bytes, std::size_t block) : rest_(bytes), block_(block) {}

 private:
  Bytes fetch() override {
    const Bytes block = rest_.first(std::min(rest_.size(), block_));
    rest_ = rest_.subspan(block.size());
    return block;
  }

  Bytes rest_;
  std::size_t block_;
};

struct Content {
  bool whole = false;
  Buffer bytes;
};

Content decompressed(Bytes packed, std::size_t block) {
  Content content;
  content.whole = accepts(
      [&] {
        auto stream = decompress(std::make_unique<MemoryStream>(packed, block), "place").stream;
        while (content.bytes.size() < max_bytes) {
          const Bytes piece = stream->next();
          if (piece.empty()) return;
          append(content.bytes, piece);
        }
      },
      Decides::a_library);
  return content;
}

Buffer packed(std::string_view text) {
  GzipFile file(directory() / "packed");
  file.write(as_bytes(text));
  file.close();
  Buffer bytes;
  read_file(directory() / "packed", bytes);
  return bytes;
}

// Fixes the CRC and the length of a file with one member.
void mend(MutableBytes file) {
  constexpr std::size_t head = 10, tail = 8;
  if (file.size() < head + tail || file[3] != std::byte{0}) return;
  z_stream z{};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) return;
  z.next_in = reinterpret_cast<unsigned char*>(file.data()) + head;
  z.avail_in = static_cast<uInt>(file.size() - head - tail);
  uLong sum = crc32(0, nullptr, 0);
  unsigned char block[4096];
  int code = Z_OK;
  for (unsigned blocks = 0; code == Z_OK && blocks < 256; ++blocks) {
    z.next_out = block;
    z.avail_out = sizeof block;
    code = inflate(&z, Z_NO_FLUSH);
    sum = crc32(sum, block, static_cast<uInt>(sizeof block - z.avail_out));
  }
  if (code == Z_STREAM_END) {
    const auto crc = static_cast<std::uint32_t>(sum),
               size = static_cast<std::uint32_t>(z.total_out);
    std::memcpy(file.data() + head + z.total_in, &crc, sizeof crc);
    std::memcpy(file.data() + head + z.total_in + 4, &size, sizeof size);
  }
  inflateEnd(&z);
}

}  // namespace

std::vector<Buffer> seeds() {
  const Buffer one = packed("one member"), long_one = packed(std::string(3000, 'x'));
  return {one, long_one, joined({one, packed(""), long_one}), joined({one, Buffer(16)})};
}

}  // namespace feedrate::fuzz

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
  return feedrate::fuzz::mutate_and_mend(data, size, most, seed, feedrate::fuzz::mend);
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::fuzz;
  const feedrate::formats::Bytes file = fenced(data, size);
  const Content at_once = decompressed(file, file.size() + 1);
  const Content in_pieces = decompressed(file, 7);
  require(at_once.whole == in_pieces.whole, "where blocks end does not decide what is sound");
  if (at_once.whole) {
    require(same(at_once.bytes, in_pieces.bytes), "where blocks end does not change the bytes");
  }
  return 0;
}
