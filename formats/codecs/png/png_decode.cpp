#include "formats/codecs/png/plain_png.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <memory>

#include "formats/base/checksum.h"
#include "formats/codecs/png/png_filter.h"

namespace feedrate::formats {
namespace {

struct Chunk {
  std::string_view type;
  Bytes body;
};

// Takes the first chunk off `rest`. Its type is empty when it is cut off or its CRC is wrong.
Chunk take_chunk(Bytes& rest) {
  if (rest.size() < png_chunk_overhead) return {};
  const std::size_t size = load_be<std::uint32_t>(rest.data());
  if (size > rest.size() - png_chunk_overhead) return {};
  const Bytes checked = rest.subspan(4, 4 + size);
  if (zip_crc32(checked) != load_be<std::uint32_t>(checked.data() + checked.size())) return {};
  rest = rest.subspan(png_chunk_overhead + size);
  return {as_text(checked.first(4)), checked.subspan(4)};
}

bool is_plain_header(const Chunk& chunk, Shape shape) {
  const char kind[] = {8, shape.channels == 1 ? '\0' : '\2', 0, 0, 0};  // bits, colour type, …
  return chunk.type == "IHDR" && chunk.body.size() == 13 &&
         load_be<std::uint32_t>(chunk.body.data()) == shape.width &&
         load_be<std::uint32_t>(chunk.body.data() + 4) == shape.height &&
         as_text(chunk.body.subspan(8)) == std::string_view(kind, sizeof kind);
}

// True for the type of a chunk that decoders may ignore.
bool is_ancillary(std::string_view type) { return type[0] >= 'a' && type[0] <= 'z'; }

class PlainDecoder {
 public:
  bool decode(Bytes encoded, Shape shape, MutableBytes pixels) {
    if (encoded.size() < png_signature) return false;
    Bytes rest = encoded.subspan(png_signature);  // the caller has checked the signature
    if (!is_plain_header(take_chunk(rest), shape) || !find_data(rest)) return false;
    const std::size_t row_bytes = std::size_t{shape.width} * shape.channels;
    const std::size_t wanted = pixels.size() / row_bytes;
    return inflate((1 + row_bytes) * wanted, wanted == shape.height) &&
           unfilter(wanted, row_bytes, shape.channels, pixels);
  }

 private:
  // Finds the image data, joined where it is split. False when any other chunk matters.
  bool find_data(Bytes rest) {
    data_ = {};
    bool ended = false;  // true once another chunk has followed the data
    for (;;) {
      const Chunk chunk = take_chunk(rest);
      if (chunk.type == "IDAT") {
        if (ended) return false;
        add_data(chunk.body);
      } else if (chunk.type == "IEND") {
        return chunk.body.empty();  // whatever follows is none of the image's
      } else if (chunk.type.empty() || !is_ancillary(chunk.type)) {
        return false;
      } else {
        ended = !data_.empty();
      }
    }
  }

  void add_data(Bytes body) {
    if (data_.empty()) {
      data_ = body;
      return;
    }
    if (data_.data() != joined_.data()) joined_.assign(data_.begin(), data_.end());
    append(joined_, body);
    data_ = joined_;
  }

  bool inflate(std::size_t size, bool to_the_end) {
    // Rows are read four bytes at a time; see unfilter_row.
    if (rows_.size() < size + row_margin) rows_.resize(size + row_margin);
    inflate_state& state = *state_;
    isal_inflate_init(&state);
    state.crc_flag = ISAL_ZLIB;
    state.next_in = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(data_.data()));
    state.avail_in = static_cast<std::uint32_t>(data_.size());
    state.next_out = reinterpret_cast<std::uint8_t*>(rows_.data());
    state.avail_out = static_cast<std::uint32_t>(size);
    const int result = isal_inflate_stateless(&state);
    clear_upper_halves();
    if (!to_the_end) return result == ISAL_OUT_OVERFLOW && state.avail_out == 0;
    return result == ISAL_DECOMP_OK && state.avail_in == 0 && state.avail_out == 0;
  }

  bool unfilter(std::size_t rows, std::size_t row_bytes, std::size_t pixel_bytes,
                MutableBytes pixels) {
    zeros_.resize(std::max(zeros_.size(), row_bytes + row_margin));
    const std::byte* above = zeros_.data();
    for (std::size_t y = 0; y < rows; ++y) {
      const std::byte* row = rows_.data() + y * (1 + row_bytes);
      std::byte* to = pixels.data() + y * row_bytes;
      if (!unfilter_row(row, above, row_bytes, pixel_bytes, to)) return false;
      above = to;
    }
    return true;
  }

  std::unique_ptr<inflate_state> state_ = std::make_unique<inflate_state>();
  Bytes data_;  // in the file or in joined_
  Buffer joined_, rows_, zeros_;
};

}  // namespace

bool decode_plain_png(Bytes encoded, Shape shape, MutableBytes pixels) {
  thread_local PlainDecoder decoder;
  return decoder.decode(encoded, shape, pixels);
}

}  // namespace feedrate::formats
