// PBM, PGM and PPM, as text (P1 to P3) and binary (P4 to P6); read, not written. Numbers become
// 0 … 255 as Pillow makes them: round(value · 255 / largest), half to even.
//
//   P 1…6 | blanks and # comments | width | height | largest, but for P1 and P4 | one blank | pixels

#include <algorithm>
#include <cassert>
#include <cmath>

#include "formats/codec.h"
#include "formats/codecs/expect_shape.h"

namespace feedrate::formats {
namespace {

bool is_blank(std::byte byte) {
  const auto value = std::to_integer<unsigned>(byte);
  return value == ' ' || (value >= '\t' && value <= '\r');
}

class Reader {
 public:
  explicit Reader(Bytes encoded) : encoded_(encoded) {}

  unsigned take_digit() {  // of P1, whose pixels may stand without blanks
    skip_blanks();
    const unsigned digit = take() - '0';
    if (digit > 1) damaged("expected 0 or 1");
    return digit;
  }

  std::uint32_t take_number() {
    skip_blanks();
    std::uint32_t number = 0;
    std::size_t digits = 0;
    for (; at_ < encoded_.size(); ++at_, ++digits) {
      const unsigned digit = std::to_integer<unsigned>(encoded_[at_]) - '0';
      if (digit > 9) break;
      number = number * 10 + digit;
      if (number > 65535) damaged("a number above 65535");
    }
    if (digits == 0) {
      if (at_ == encoded_.size()) ends_early();
      damaged("expected a number");
    }
    return number;
  }

  void skip_one_blank() {
    if (at_ == encoded_.size()) ends_early();
    if (!is_blank(encoded_[at_])) damaged("expected a blank behind the header");
    ++at_;
  }

  unsigned take() {
    if (at_ == encoded_.size()) ends_early();
    return std::to_integer<unsigned>(encoded_[at_++]);
  }

  unsigned take_bit(std::size_t number) {  // of a byte, the highest first
    if (number == 0) byte_ = take();
    return byte_ >> (7 - number) & 1U;
  }

  std::size_t left() const { return encoded_.size() - at_; }
  void skip(std::size_t bytes) { at_ += bytes; }

  [[noreturn]] void damaged(std::string_view how) const {
    throw Error(join("PNM is damaged at byte ", at_, ": ", how));
  }
  [[noreturn]] void ends_early() const {
    throw Error(join("PNM of ", encoded_.size(), " bytes ends too early: truncated?"));
  }

 private:
  void skip_blanks() {
    for (; at_ < encoded_.size(); ++at_) {
      if (encoded_[at_] == std::byte{'#'}) {
        while (at_ + 1 < encoded_.size() && encoded_[at_] != std::byte{'\n'}) ++at_;
      } else if (!is_blank(encoded_[at_])) {
        return;
      }
    }
  }

  Bytes encoded_;
  std::size_t at_ = 0;
  unsigned byte_ = 0;  // that take_bit() reads
};

struct Header {
  unsigned kind = 0;  // the digit behind P
  Shape shape;
  std::uint32_t largest = 1;

  bool is_text() const { return kind <= 3; }
  bool is_bits() const { return kind == 1 || kind == 4; }
};

Header read_header(Reader& reader) {
  reader.skip(1);
  Header header;
  header.kind = reader.take() - '0';
  header.shape.width = reader.take_number();
  header.shape.height = reader.take_number();
  header.shape.channels = header.kind % 3 == 0 ? 3 : 1;
  if (!header.is_bits()) header.largest = reader.take_number();
  if (header.largest == 0) reader.damaged("the largest number is 0");
  if (!header.is_text()) reader.skip_one_blank();
  const Shape& shape = header.shape;
  const std::size_t bits = header.is_bits() ? 1 : header.largest < 256 || header.is_text() ? 8 : 16;
  // As text, a number takes a digit or more.
  const std::size_t row = (std::size_t{shape.width} * shape.channels * bits + 7) / 8;
  const std::size_t least =
      header.kind == 1 ? std::size_t{shape.width} * shape.height : row * shape.height;
  if (!shape.plausible() || least > reader.left()) {
    throw Error(join("PNM header states ", shape.height, "x", shape.width, " pixels, which ",
                     reader.left(), " bytes behind it cannot hold"));
  }
  return header;
}

class PnmCodec final : public Codec {
 public:
  PnmCodec() : Codec("pnm", "PPM, PGM and PBM; read, not written") {}

  bool knows(Bytes encoded) const override {
    const std::string_view text = as_text(encoded.first(std::min<std::size_t>(encoded.size(), 3)));
    return text.size() == 3 && text[0] == 'P' && text[1] >= '1' && text[1] <= '6' &&
           (is_blank(encoded[2]) || text[2] == '#');
  }

  Shape shape(Bytes encoded) const override {
    if (!knows(encoded)) throw Error("not a PNM: it does not begin with P1 to P6");
    Reader reader(encoded);
    return read_header(reader).shape;
  }

  void decode(Bytes encoded, Shape wanted, MutableBytes pixels) const override {
    expect_shape(shape(encoded), wanted, "PNM");
    assert(pixels.size() == wanted.bytes());
    Reader reader(encoded);
    const Header header = read_header(reader);
    const std::size_t row = std::size_t{wanted.width} * wanted.channels;
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      pixels[i] = static_cast<std::byte>(next(reader, header, i % row));
    }
  }

  bool encodes() const override { return false; }

 private:
  static unsigned next(Reader& reader, const Header& header, std::size_t column) {
    if (header.kind == 1) return reader.take_digit() == 0 ? 255 : 0;
    if (header.kind == 4) {  // rows begin at bytes
      return reader.take_bit(column % 8) == 0 ? 255 : 0;
    }
    unsigned value = 0;
    if (header.is_text()) {
      value = reader.take_number();
    } else {
      value = reader.take();
      if (header.largest > 255) value = value << 8 | reader.take();
    }
    if (header.is_text() && value > header.largest) reader.damaged("a number above the largest");
    if (header.largest == 255) return value;
    return static_cast<unsigned>(
        std::min(255.0, std::nearbyint(value * 255.0 / static_cast<double>(header.largest))));
  }
};

const PnmCodec pnm_row;

}  // namespace

const Codec& pnm_codec = pnm_row;

}  // namespace feedrate::formats
