// GIF 87a and 89a with one picture, always as RGB; read, not written. Around a picture smaller than its
// screen lies the transparent colour, or colour 0, as Pillow has it. Transparency is dropped.
//
//   GIF87a or GIF89a | u16le width, height | u8 flags | u8 background | u8 | palette |
//   blocks: "!" u8 kind, parts | "," u16le x, y, width, height, u8 flags, palette, u8 bits, parts | ";"
//   parts: u8 size, bytes, …, 0; those of a picture are LZW codes, the lowest bit first

#include <algorithm>
#include <array>
#include <cassert>

#include "formats/codec.h"
#include "formats/codecs/expect_shape.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t shortest = 27;  // bytes of a GIF with a picture of one pixel

[[noreturn]] void damaged(std::string_view how) { throw Error(join("GIF is damaged: ", how)); }

class Reader {
 public:
  explicit Reader(Bytes rest) : rest_(rest) {}

  Bytes take(std::size_t size) {
    if (size > rest_.size()) damaged("it ends too early: truncated?");
    const Bytes taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  unsigned take_byte() { return std::to_integer<unsigned>(take(1)[0]); }
  std::uint32_t take_short() { return load_le<std::uint16_t>(take(2).data()); }
  bool ended() const { return rest_.empty(); }

  // The colours that the flags announce.
  Bytes take_palette(unsigned flags) {
    return (flags & 0x80) == 0 ? Bytes() : take(3 * (std::size_t{2} << (flags & 7)));
  }
  Bytes take_part() { return take(take_byte()); }
  void skip_parts() {
    while (!take_part().empty()) {
    }
  }

 private:
  Bytes rest_;
};

// The codes of a picture, part after part.
class Codes {
 public:
  explicit Codes(Reader& reader) : reader_(reader) {}

  // 4096 where the parts end.
  unsigned take(unsigned bits) {
    for (; held_ < bits; held_ += 8) {
      if (part_.empty()) part_ = reader_.take_part();
      if (part_.empty()) return 4096;
      word_ |= std::to_integer<std::uint32_t>(part_[0]) << held_;
      part_ = part_.subspan(1);
    }
    const unsigned code = word_ & ((1U << bits) - 1);
    word_ >>= bits;
    held_ -= bits;
    return code;
  }

 private:
  Reader& reader_;
  Bytes part_;
  std::uint32_t word_ = 0;
  unsigned held_ = 0;
};

// Calls put() for `count` colours.
template <class Put>
void decode_lzw(Reader& reader, std::size_t count, const Put& put) {
  constexpr unsigned none = 4096;
  const unsigned first_bits = reader.take_byte();
  if (first_bits < 1 || first_bits > 11) damaged(join("codes of ", first_bits, " bits"));
  const unsigned clear = 1U << first_bits, end = clear + 1;
  std::array<std::uint16_t, none> before;  // the code of all but the last colour
  std::array<std::uint8_t, none> last, stack;
  Codes codes(reader);
  unsigned bits = first_bits + 1, next = end + 1, previous = none, first = 0;
  while (count > 0) {
    const unsigned code = codes.take(bits);
    if (code == clear) {
      bits = first_bits + 1;
      next = end + 1;
      previous = none;
      continue;
    }
    if (code == none || code == end) damaged("its codes end too early: truncated?");
    if (code > next || (code >= clear && previous == none) || (code == next && next == none)) {
      damaged("a code that is none");
    }
    std::size_t depth = 0;
    unsigned at = code;
    if (code == next) {  // what was last, and its first colour again
      stack[depth++] = static_cast<std::uint8_t>(first);
      at = previous;
    }
    for (; at > end; at = before[at]) stack[depth++] = last[at];
    first = at;
    stack[depth++] = static_cast<std::uint8_t>(first);
    if (previous != none && next < none) {
      before[next] = static_cast<std::uint16_t>(previous);
      last[next] = static_cast<std::uint8_t>(first);
      ++next;
      if (next == 1U << bits && bits < 12) ++bits;
    }
    previous = code;
    for (; depth > 0 && count > 0; --count) put(stack[--depth]);
  }
}

struct Picture {
  std::uint32_t x = 0, y = 0, width = 0, height = 0;
  bool interlaced = false;
  Bytes palette;
  unsigned around = 0;  // the colour of what it does not cover
};

// Skips to the codes of the first picture.
Picture find_picture(Reader& reader, Bytes palette) {
  Picture picture;
  for (;;) {
    const unsigned block = reader.take_byte();
    if (block == '!') {
      if (reader.take_byte() == 0xf9) {
        const Bytes control = reader.take_part();
        if (control.size() >= 4 && (control[0] & std::byte{1}) != std::byte{0}) {
          picture.around = std::to_integer<unsigned>(control[3]);
        }
        if (control.empty()) continue;
      }
      reader.skip_parts();
    } else if (block == ',') {
      picture.x = reader.take_short();
      picture.y = reader.take_short();
      picture.width = reader.take_short();
      picture.height = reader.take_short();
      const unsigned flags = reader.take_byte();
      picture.interlaced = (flags & 0x40) != 0;
      const Bytes own = reader.take_palette(flags);
      picture.palette = own.empty() ? palette : own;
      return picture;
    } else if (block == ';') {
      damaged("it holds no picture");
    }
  }
}

Shape read_screen(Reader& reader, Bytes encoded, Bytes& palette) {
  reader.take(6);
  Shape shape;
  shape.width = reader.take_short();
  shape.height = reader.take_short();
  shape.channels = 3;
  const unsigned flags = reader.take_byte();
  reader.take(2);
  palette = reader.take_palette(flags);
  // A code of 12 bits stands for at most 4096 colours; a screen may be larger than its picture.
  if (!shape.plausible() ||
      std::uint64_t{shape.height} * shape.width > std::uint64_t{encoded.size()} * 4096) {
    throw Error(join("GIF header states ", shape.height, "x", shape.width, " pixels, which ",
                     encoded.size(), " bytes cannot hold"));
  }
  return shape;
}

// The rows of an interlaced picture, in the order of the codes.
std::uint32_t row_of(const Picture& picture, std::uint32_t number) {
  if (!picture.interlaced) return number;
  constexpr std::array<std::array<std::uint32_t, 2>, 4> passes = {{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
  for (const auto& [first, step] : passes) {
    const std::uint32_t rows =
        picture.height > first ? (picture.height - first + step - 1) / step : 0;
    if (number < rows) return first + number * step;
    number -= rows;
  }
  return 0;
}

class GifCodec final : public Codec {
 public:
  GifCodec() : Codec("gif", "a single picture; read, not written") {}

  bool knows(Bytes encoded) const override {
    if (encoded.size() < shortest) return false;
    const std::string_view text = as_text(encoded.first(6));
    return text == "GIF87a" || text == "GIF89a";
  }

  Shape shape(Bytes encoded) const override {
    if (!knows(encoded)) throw Error("not a GIF: the signature is damaged");
    Reader reader(encoded);
    Bytes palette;
    return read_screen(reader, encoded, palette);
  }

  void decode(Bytes encoded, Shape wanted, MutableBytes pixels) const override {
    expect_shape(shape(encoded), wanted, "GIF");
    assert(pixels.size() == wanted.bytes());
    Reader reader(encoded);
    Bytes palette;
    read_screen(reader, encoded, palette);
    const Picture picture = find_picture(reader, palette);
    if (picture.width == 0 || picture.height == 0 || picture.x + picture.width > wanted.width ||
        picture.y + picture.height > wanted.height) {
      damaged("its picture is empty or larger than its screen");
    }
    const auto set = [&](unsigned colour, std::size_t pixel) {
      if (3 * std::size_t{colour} + 3 > picture.palette.size()) {
        damaged(join("a pixel has the colour ", colour, ", which its palette lacks"));
      }
      std::copy_n(picture.palette.data() + 3 * std::size_t{colour}, 3, pixels.data() + 3 * pixel);
    };
    const std::size_t inside = std::size_t{picture.width} * picture.height;
    if (inside < std::size_t{wanted.width} * wanted.height) {
      for (std::size_t i = 0; i < std::size_t{wanted.width} * wanted.height; ++i)
        set(picture.around, i);
    }
    std::uint32_t row = 0, column = 0;
    decode_lzw(reader, inside, [&](unsigned colour) {
      set(colour,
          std::size_t{picture.y + row_of(picture, row)} * wanted.width + picture.x + column);
      if (++column == picture.width) {
        column = 0;
        ++row;
      }
    });
    expect_no_more(reader);
  }

  bool encodes() const override { return false; }

 private:
  // Animations are refused, as those of WebP: a sample is one picture, and none is left out silently.
  static void expect_no_more(Reader& reader) {
    reader.skip_parts();
    while (!reader.ended()) {
      const unsigned block = reader.take_byte();
      if (block == ',') {
        throw Error(
            "an animated GIF is many pictures, and a sample has one; extract a frame first");
      }
      if (block == ';') return;
      if (block == '!') {
        reader.take_byte();
        reader.skip_parts();
      }
    }
  }
};

const GifCodec gif_row;

}  // namespace

const Codec& gif_codec = gif_row;

}  // namespace feedrate::formats
