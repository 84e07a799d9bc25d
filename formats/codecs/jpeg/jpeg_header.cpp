#include <algorithm>

#include "formats/base/error.h"
#include "formats/codecs/jpeg/jpeg.h"

namespace feedrate::formats {
namespace {

// Codes of markers without a body, and of those that end the walk.
enum Marker : unsigned {
  tem = 0x01,
  sof_first = 0xc0,
  dht = 0xc4,
  jpg = 0xc8,
  dac = 0xcc,
  sof_last = 0xcf,
  rst_first = 0xd0,
  rst_last = 0xd7,
  soi = 0xd8,
  eoi = 0xd9,
  sos = 0xda,
  app14 = 0xee,
};

constexpr std::uint32_t max_side = 65500;  // libjpeg's limit

// Walks over marker segments from front to back, checking every length.
class Walk {
 public:
  explicit Walk(Bytes encoded) : encoded_(encoded) {}

  // The next marker. Skips bytes that belong to none, as libjpeg does.
  unsigned next_marker() {
    for (;;) {
      while (take_byte() != 0xff) {
      }
      unsigned code = 0xff;
      while (code == 0xff) code = take_byte();  // any number of FF bytes may precede a code
      marker_at_ = at_ - 2;
      if (code != 0) return code;
    }
  }

  // The body of a marker that has one. Some writers count the body alone, so that the length of an
  // empty one is less than its own two bytes: libjpeg takes it for 2.
  Bytes take_body() {
    constexpr std::size_t length_bytes = 2;
    if (encoded_.size() - at_ < length_bytes) ends_early();
    const std::size_t size = load_be<std::uint16_t>(encoded_.data() + at_);
    if (std::max(size, length_bytes) > encoded_.size() - at_) ends_early();
    const Bytes body = encoded_.subspan(at_ + 2, std::max(size, length_bytes) - length_bytes);
    at_ += length_bytes + body.size();
    return body;
  }

  [[noreturn]] void damaged(std::string_view how) const {
    throw Error(join("JPEG is damaged at byte ", marker_at_, ": ", how));
  }

 private:
  unsigned take_byte() {
    if (at_ == encoded_.size()) ends_early();
    return std::to_integer<unsigned>(encoded_[at_++]);
  }

  [[noreturn]] void ends_early() const {
    throw Error(join("JPEG of ", encoded_.size(),
                     " bytes ends inside its header, after the marker at byte ", marker_at_,
                     ": truncated?"));
  }

  Bytes encoded_;
  std::size_t at_ = 0;
  std::size_t marker_at_ = 0;
};

bool is_frame(unsigned marker) {
  return marker >= sof_first && marker <= sof_last && marker != dht && marker != jpg &&
         marker != dac;
}

// SOF0 … SOF15: the number says how the image is coded.
void read_kind(unsigned marker, JpegHeader& header) {
  switch (marker - sof_first) {
    case 0:
    case 1:
      return;
    case 2:
      header.progressive = true;
      return;
    case 9:
      header.arithmetic = true;
      return;
    case 10:
      header.progressive = header.arithmetic = true;
      return;
    case 3:
    case 11:
      throw Error("JPEG is lossless (SOF3 or SOF11), which Feedrate does not read");
    default:
      throw Error(
          join("JPEG is hierarchical (SOF", marker - sof_first, "), which Feedrate does not read"));
  }
}

// A component is coded in blocks of eight by eight pixels, and every block costs bits. With Huffman
// codes it costs at least two (DC and end of block), or one where later scans may skip it.
// Arithmetic codes cost next to nothing: a white page of 8000x8000 takes 127 bytes, headers included.
std::uint64_t max_blocks(const JpegHeader& header, std::size_t bytes) {
  return std::uint64_t{bytes} * (header.arithmetic ? 16'384 : header.progressive ? 8 : 4);
}

std::uint64_t blocks_along(std::uint32_t pixels, unsigned factor, unsigned largest_factor) {
  const std::uint64_t width =
      (std::uint64_t{pixels} * factor + largest_factor - 1) / largest_factor;
  return (width + 7) / 8;
}

//   SOFn: u8 bits | u16be height | u16be width | u8 components | {u8 id, u8 sampling, u8 table} …
void read_frame(Walk& walk, Bytes body, std::size_t file_size, JpegHeader& header) {
  constexpr std::size_t fixed = 6;
  if (body.size() < fixed) walk.damaged(join("a frame header of ", body.size(), " bytes"));
  const auto byte = [&](std::size_t i) { return std::to_integer<unsigned>(body[i]); };
  if (byte(0) != 8) {
    throw Error(join("JPEG has ", byte(0), " bits a sample; Feedrate reads 8"));
  }
  header.shape.height = load_be<std::uint16_t>(body.data() + 1);
  header.shape.width = load_be<std::uint16_t>(body.data() + 3);
  header.components = byte(5);
  header.shape.channels = header.components == 1 ? 1 : 3;
  if (header.components != 1 && header.components != 3 && header.components != 4) {
    throw Error(join("JPEG has ", header.components, " components; Feedrate reads 1, 3 or 4"));
  }
  if (body.size() != fixed + 3 * std::size_t{header.components}) {
    walk.damaged(
        join("a frame header of ", body.size(), " bytes for ", header.components, " components"));
  }
  if (header.shape.height == 0) {
    throw Error("JPEG states its height behind the pixels (DNL), which Feedrate does not read");
  }
  unsigned max_across = 1, max_down = 1;
  for (std::size_t i = fixed + 1; i < body.size(); i += 3) {
    const unsigned across = byte(i) >> 4, down = byte(i) & 15;
    if (across - 1 > 3 || down - 1 > 3) {
      walk.damaged(join("sampling factors ", across, "x", down, ", expected 1 to 4"));
    }
    max_across = std::max(max_across, across);
    max_down = std::max(max_down, down);
  }
  std::uint64_t blocks = 0;
  for (std::size_t i = fixed + 1; i < body.size(); i += 3) {
    blocks += blocks_along(header.shape.width, byte(i) >> 4, max_across) *
              blocks_along(header.shape.height, byte(i) & 15, max_down);
  }
  if (!header.shape.plausible() || std::max(header.shape.width, header.shape.height) > max_side ||
      blocks > max_blocks(header, file_size)) {
    throw Error(join("JPEG header states ", header.shape.height, "x", header.shape.width,
                     " pixels, which ", file_size, " bytes cannot hold"));
  }
}

//   APP14: "Adobe" | u16 version | u16 flags | u16 flags | u8 transform
std::optional<int> read_adobe(Bytes body) {
  constexpr std::size_t size = 12;
  if (body.size() < size || as_text(body.first(5)) != "Adobe") return std::nullopt;
  return std::to_integer<int>(body[size - 1]);
}

}  // namespace

JpegHeader jpeg_header(Bytes encoded) { return jpeg_header(encoded, encoded.size()); }

JpegHeader jpeg_header(Bytes encoded, std::size_t size) {
  if (encoded.size() < 3 || as_text(encoded.first(2)) != "\xff\xd8") {
    throw Error("not a JPEG: it does not start with FF D8");
  }
  Walk walk(encoded);
  walk.next_marker();  // the start of the image
  JpegHeader header;
  for (;;) {
    const unsigned marker = walk.next_marker();
    if (marker == tem || (marker >= rst_first && marker <= rst_last)) continue;
    if (marker == soi || marker == eoi) {
      walk.damaged(marker == soi ? "a second start" : "the end of the image, before any pixels");
    }
    if (marker == sos) {
      if (header.components == 0) walk.damaged("a scan without a frame header");
      return header;
    }
    const Bytes body = walk.take_body();
    if (is_frame(marker)) {
      if (header.components != 0) walk.damaged("a second frame header");
      read_kind(marker, header);
      read_frame(walk, body, size, header);
    } else if (marker == app14) {
      if (const auto transform = read_adobe(body)) header.adobe = transform;
    }
  }
}

}  // namespace feedrate::formats
