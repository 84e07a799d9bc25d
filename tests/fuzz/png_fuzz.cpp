// PNG, with the CRC of every chunk and the checksum of the pixels fixed.

#include <zlib.h>

#include <array>

#include "formats/codecs/png/plain_png.h"
#include "tests/fuzz/decode.h"
#include "tests/fuzz/libpng.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

using namespace std::string_view_literals;

constexpr std::size_t signature_bytes = 8;
constexpr std::size_t chunk_frame = 12;  // length, type, CRC

void store_be(std::byte* at, std::uint32_t value) {
  value = swap_bytes(value);
  std::memcpy(at, &value, sizeof value);
}

const unsigned char* plain(const std::byte* at) {
  return reinterpret_cast<const unsigned char*>(at);
}

// Fixes the checksum after the deflated data of the only IDAT chunk.
void mend_adler(MutableBytes data) {
  constexpr std::size_t head = 2, tail = 4;
  if (data.size() < head + tail) return;
  z_stream z{};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) return;
  z.next_in = const_cast<unsigned char*>(plain(data.data() + head));
  z.avail_in = static_cast<uInt>(data.size() - head - tail);
  uLong sum = adler32(0, nullptr, 0);
  std::array<unsigned char, 4096> block{};
  int code = Z_OK;
  for (unsigned blocks = 0; code == Z_OK && blocks < 256; ++blocks) {
    z.next_out = block.data();
    z.avail_out = block.size();
    code = inflate(&z, Z_NO_FLUSH);
    sum = adler32(sum, block.data(), static_cast<uInt>(block.size() - z.avail_out));
  }
  if (code == Z_STREAM_END)
    store_be(data.data() + head + z.total_in, static_cast<std::uint32_t>(sum));
  inflateEnd(&z);
}

void mend(MutableBytes png) {
  std::size_t at = signature_bytes;
  while (at + chunk_frame <= png.size()) {
    const auto size = load_be<std::uint32_t>(png.data() + at);
    if (size > png.size() - at - chunk_frame) return;
    const MutableBytes typed = png.subspan(at + 4, 4 + size);
    if (as_text(typed.first(4)) == "IDAT") mend_adler(typed.subspan(4));
    store_be(
        typed.data() + typed.size(),
        static_cast<std::uint32_t>(crc32(0, plain(typed.data()), static_cast<uInt>(typed.size()))));
    at += chunk_frame + size;
  }
}

// A PNG of any kind, whose pixels are zeros and whose checksums the harness fixes.
Buffer made(std::uint32_t width, std::uint32_t height, unsigned depth, unsigned type,
            unsigned interlace, std::string_view chunks, std::size_t raw_bytes) {
  Buffer png = buffer("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"sv);
  append_le(png, swap_bytes(width));
  append_le(png, swap_bytes(height));
  for (const unsigned field : {depth, type, 0U, 0U, interlace, 0U, 0U, 0U, 0U}) {
    png.push_back(static_cast<std::byte>(field));
  }
  append(png, as_bytes(chunks));
  const std::vector<unsigned char> rows(raw_bytes);
  std::vector<unsigned char> packed(compressBound(raw_bytes));
  uLongf packed_bytes = packed.size();
  compress(packed.data(), &packed_bytes, rows.data(), raw_bytes);
  append_le(png, swap_bytes(static_cast<std::uint32_t>(packed_bytes)));
  append(png, as_bytes("IDAT"));
  append(png, std::as_bytes(std::span(packed).first(packed_bytes)));
  append(png, as_bytes("\0\0\0\0\0\0\0\0IEND\0\0\0\0"sv));
  mend(png);
  return png;
}

// Our decoder and libpng may differ in what they refuse, never in the pixels.
void check_plain(Bytes encoded) {
  Shape shape;
  if (!accepts([&] { shape = png_codec.shape(encoded); }) || shape.bytes() > large) return;
  Buffer pixels(shape.bytes());
  if (!decode_plain_png(encoded, shape, pixels)) return;
  const auto referee = read_by_libpng(encoded, shape);
  require(!referee || same(*referee, pixels), "libpng reads the same pixels");
}

}  // namespace

std::vector<Buffer> seeds() {
  std::vector<Buffer> all;
  for (const Shape shape : {Shape{3, 5, 1}, Shape{4, 3, 3}}) {
    png_codec.encode(small_image(shape), all.emplace_back());
  }
  const std::string_view palette = "\0\0\0\x06PLTE\0\0\0\xff\x80\x40\0\0\0\0"sv;
  const std::string_view transparent =
      "\0\0\0\x06PLTE\0\0\0\xff\x80\x40\0\0\0\0\0\0\0\x01tRNS\x7f\0\0\0\0"sv;
  all.push_back(made(9, 2, 1, 3, 0, palette, 2 * 3));
  all.push_back(made(5, 2, 4, 3, 1, transparent, 32));
  all.push_back(made(9, 2, 2, 0, 0, {}, 2 * 4));
  all.push_back(made(3, 2, 16, 2, 0, {}, 2 * 19));
  all.push_back(made(3, 2, 8, 4, 0, {}, 2 * 7));
  all.push_back(made(3, 2, 16, 6, 0, "\0\0\0\x03tEXta\0b\0\0\0\0"sv, 2 * 25));
  all.push_back(made(9, 9, 8, 0, 1, {}, 81 + 15));
  return all;
}

}  // namespace feedrate::fuzz

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
  return feedrate::fuzz::mutate_and_mend(data, size, most, seed, feedrate::fuzz::mend);
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate;
  using namespace feedrate::formats;
  const Bytes encoded = fuzz::fenced(data, size);
  fuzz::check_codec(png_codec, encoded);
  fuzz::check_plain(encoded);
  return 0;
}
