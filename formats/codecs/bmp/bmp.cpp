// BMP of Windows and OS/2, always as RGB; read, not written. Of 32 bits, those beside red, green and blue
// are dropped. Numbers of 5 and 6 bits become 0 … 255 as Pillow makes them: value · 255 / largest.
//
//   B M | u32le size | 4 bytes | u32le offset of the pixels | u32le size of this header, 12 or 40 … 124 |
//   width | height, negative for rows from the top | u16le 1 | u16le bits | u32le compression | … |
//   masks | palette of B, G, R(, 0) | rows, each to a multiple of 4 bytes

#include <algorithm>
#include <array>
#include <cassert>

#include "formats/codec.h"
#include "formats/codecs/expect_shape.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t file_header = 14;

enum Compression : std::uint32_t {
  plain = 0,
  rle8 = 1,
  rle4 = 2,
  bitfields = 3,
  alpha_bitfields = 6
};

// Red, green or blue in a pixel of 16 or 32 bits.
struct Field {
  unsigned shift = 0;
  std::uint32_t largest = 0;

  std::byte of(std::uint32_t pixel) const {
    return static_cast<std::byte>((pixel >> shift & largest) * 255 / std::max(largest, 1U));
  }
};

struct Header {
  Shape shape;
  bool from_top = false;
  unsigned bits = 0;
  std::uint32_t compression = plain;
  std::array<Field, 3> fields{};  // red, green, blue
  Bytes palette;
  std::size_t palette_entry = 4;
  Bytes pixels;

  bool is_runs() const { return compression == rle8 || compression == rle4; }
  std::size_t row_bytes() const { return (std::size_t{shape.width} * bits + 31) / 32 * 4; }
};

[[noreturn]] void damaged(std::string_view how) { throw Error(join("BMP is damaged: ", how)); }

Field field_of(std::uint32_t mask) {
  if (mask == 0) damaged("a mask of no bits");
  const auto shift = static_cast<unsigned>(std::countr_zero(mask));
  const std::uint32_t largest = mask >> shift;
  if (largest > 255 || (largest & (largest + 1)) != 0)
    damaged("a mask of more than 8 bits, or with gaps");
  return {shift, largest};
}

void read_fields(Bytes encoded, Header& header) {
  std::array<std::uint32_t, 3> masks = {0xff0000, 0xff00, 0xff};
  if (header.bits == 16) masks = {0x7c00, 0x3e0, 0x1f};
  if (header.compression == bitfields || header.compression == alpha_bitfields) {
    for (std::size_t i = 0; i < masks.size(); ++i) {
      masks[i] = load_le<std::uint32_t>(encoded.data() + file_header + 40 + 4 * i);
    }
  }
  for (std::size_t i = 0; i < masks.size(); ++i) header.fields[i] = field_of(masks[i]);
}

bool is_known(const Header& header) {
  switch (header.compression) {
    case plain:
      return header.bits == 1 || header.bits == 4 || header.bits == 8 || header.bits == 16 ||
             header.bits == 24 || header.bits == 32;
    case rle8:
      return header.bits == 8 && !header.from_top;
    case rle4:
      return header.bits == 4 && !header.from_top;
    case bitfields:
    case alpha_bitfields:
      return header.bits == 16 || header.bits == 32;
    default:
      return false;
  }
}

Header read_header(Bytes encoded) {
  const auto at = [&]<class T>(std::size_t offset, T) {
    return load_le<T>(encoded.data() + offset);
  };
  if (encoded.size() < file_header + 12) throw Error("a BMP is truncated inside its header");
  const std::size_t size = at(file_header, std::uint32_t{});
  const bool old = size == 12;
  if (!old && (size < 40 || size > 124)) throw Error(join("BMP has a header of ", size, " bytes"));
  Header header;
  std::size_t colours = 0;
  if (old) {
    header.shape = {at(20, std::uint16_t{}), at(18, std::uint16_t{}), 3};
    header.bits = at(24, std::uint16_t{});
    header.palette_entry = 3;
  } else {
    if (encoded.size() < file_header + size + 12)
      throw Error("a BMP is truncated inside its header");
    const auto height = static_cast<std::int32_t>(at(22, std::uint32_t{}));
    header.from_top = height < 0;
    header.shape = {
        height < 0 ? 0U - static_cast<std::uint32_t>(height) : static_cast<std::uint32_t>(height),
        at(18, std::uint32_t{}), 3};
    header.bits = at(28, std::uint16_t{});
    header.compression = at(30, std::uint32_t{});
    colours = at(46, std::uint32_t{});
  }
  if (!is_known(header)) {
    throw Error(join("BMP has ", header.bits, " bits a pixel in the compression ",
                     header.compression, ", which Feedrate does not read"));
  }
  const std::size_t pixels_at = at(10, std::uint32_t{});
  if (pixels_at < file_header + size || pixels_at > encoded.size())
    damaged("its pixels lie outside it");
  header.pixels = encoded.subspan(pixels_at);
  // Runs stand for at most 255 pixels in 2 bytes, but rows may also be left out.
  const std::uint64_t least = header.is_runs()
                                  ? 1
                                  : std::uint64_t{header.row_bytes()} * (header.shape.height - 1) +
                                        (std::uint64_t{header.shape.width} * header.bits + 7) / 8;
  const std::uint64_t most_pixels =
      header.is_runs() ? std::uint64_t{encoded.size()} * 4096 : UINT64_MAX;
  if (!header.shape.plausible() || least > header.pixels.size() ||
      std::uint64_t{header.shape.height} * header.shape.width > most_pixels) {
    throw Error(join("BMP header states ", header.shape.height, "x", header.shape.width,
                     " pixels, which ", encoded.size(), " bytes cannot hold: truncated?"));
  }
  if (header.bits > 8) {
    read_fields(encoded, header);
  } else {
    if (colours == 0 || colours > (1U << header.bits)) colours = 1U << header.bits;
    const std::size_t room = (pixels_at - file_header - size) / header.palette_entry;
    header.palette =
        encoded.subspan(file_header + size, std::min(colours, room) * header.palette_entry);
  }
  return header;
}

class Decoder {
 public:
  Decoder(const Header& header, MutableBytes pixels) : header_(header), pixels_(pixels) {}

  void decode() {
    if (header_.is_runs()) return decode_runs();
    const Shape& shape = header_.shape;
    for (std::uint32_t y = 0; y < shape.height; ++y) {
      const std::byte* row = header_.pixels.data() + y * header_.row_bytes();
      std::byte* to = row_at(y);
      for (std::uint32_t x = 0; x < shape.width; ++x, to += 3) set(row, x, to);
    }
  }

 private:
  std::byte* row_at(std::uint32_t y) {
    const std::uint32_t from_top = header_.from_top ? y : header_.shape.height - 1 - y;
    return pixels_.data() + std::size_t{from_top} * header_.shape.width * 3;
  }

  void set(const std::byte* row, std::uint32_t x, std::byte* to) const {
    switch (header_.bits) {
      case 24:
        for (std::size_t c = 0; c < 3; ++c) to[c] = row[3 * std::size_t{x} + 2 - c];
        return;
      case 16:
        return set_fields(load_le<std::uint16_t>(row + 2 * std::size_t{x}), to);
      case 32:
        return set_fields(load_le<std::uint32_t>(row + 4 * std::size_t{x}), to);
      default: {
        const std::size_t bit = std::size_t{x} * header_.bits;
        const unsigned byte = std::to_integer<unsigned>(row[bit / 8]);
        set_colour(byte >> (8 - header_.bits - bit % 8) & ((1U << header_.bits) - 1), to);
      }
    }
  }

  void set_fields(std::uint32_t pixel, std::byte* to) const {
    for (std::size_t c = 0; c < 3; ++c) to[c] = header_.fields[c].of(pixel);
  }

  void set_colour(std::size_t index, std::byte* to) const {
    const std::size_t at = index * header_.palette_entry;
    if (at + header_.palette_entry > header_.palette.size()) {
      damaged(join("a pixel has the colour ", index, ", which its palette lacks"));
    }
    for (std::size_t c = 0; c < 3; ++c) to[c] = header_.palette[at + 2 - c];
  }

  unsigned take() {
    if (at_ == header_.pixels.size()) damaged("its runs end too early: truncated?");
    return std::to_integer<unsigned>(header_.pixels[at_++]);
  }

  void put(unsigned index) {
    if (x_ >= header_.shape.width || y_ >= header_.shape.height) damaged("a run leaves the image");
    set_colour(index, row_at(y_) + 3 * std::size_t{x_++});
  }

  // Runs of `count` colours: those of one byte again and again, or as stored.
  void put_runs(unsigned count, bool stored) {
    unsigned byte = stored ? 0 : take();
    const bool halves = header_.bits == 4;
    for (unsigned i = 0; i < count; ++i) {
      if (stored && (!halves || i % 2 == 0)) byte = take();
      put(!halves ? byte : i % 2 == 0 ? byte >> 4 : byte & 15);
    }
    const unsigned bytes = halves ? (count + 1) / 2 : count;
    if (stored && bytes % 2 != 0) take();
  }

  void decode_runs() {
    for (std::uint32_t y = 0; y < header_.shape.height; ++y) {  // what no run covers
      for (std::uint32_t x = 0; x < header_.shape.width; ++x)
        set_colour(0, row_at(y) + 3 * std::size_t{x});
    }
    while (y_ < header_.shape.height) {
      const unsigned count = take();
      if (count != 0) {
        put_runs(count, false);
        continue;
      }
      const unsigned code = take();
      if (code == 0) {  // the next row
        x_ = 0;
        ++y_;
      } else if (code == 1) {  // the end
        return;
      } else if (code == 2) {
        x_ += take();
        y_ += take();
      } else {
        put_runs(code, true);
      }
    }
  }

  const Header& header_;
  MutableBytes pixels_;
  std::size_t at_ = 0;
  std::uint32_t x_ = 0, y_ = 0;
};

class BmpCodec final : public Codec {
 public:
  BmpCodec() : Codec("bmp", "read, not written") {}

  bool knows(Bytes encoded) const override {
    if (encoded.size() < file_header + 4 || as_text(encoded.first(2)) != "BM") return false;
    const auto header = load_le<std::uint32_t>(encoded.data() + file_header);
    return header == 12 || (header >= 40 && header <= 124);
  }

  Shape shape(Bytes encoded) const override {
    if (!knows(encoded)) throw Error("not a BMP: its header is damaged");
    return read_header(encoded).shape;
  }

  void decode(Bytes encoded, Shape wanted, MutableBytes pixels) const override {
    expect_shape(shape(encoded), wanted, "BMP");
    assert(pixels.size() == wanted.bytes());
    const Header header = read_header(encoded);
    Decoder(header, pixels).decode();
  }

  bool encodes() const override { return false; }
};

const BmpCodec bmp_row;

}  // namespace

const Codec& bmp_codec = bmp_row;

}  // namespace feedrate::formats
