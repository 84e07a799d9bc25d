// Photographs and drawings are compressed in different ways. Rows are filtered with libpng's choice
// of filters. A photograph's rows are then compressed by runs and Huffman codes alone, which gains
// nearly all there is to gain. Images that are mostly runs, shrink to less than `drawing` of their
// size or repeat themselves may have patterns for zlib to find: it gets the filtered or the plain
// rows, whichever have longer runs.

#include "formats/codecs/png/plain_png.h"

#include <zlib.h>

#include <algorithm>
#include <cassert>
#include <memory>
#include <new>

#include "formats/base/checksum.h"
#include "formats/codecs/png/png_filter.h"
#include "formats/codecs/png/run_deflate.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t data_start = png_header + 8;

// Compressed size as a fraction of the rows' size. Measured with bench_codec.
constexpr double drawing = 0.4;

std::byte* put(std::byte* to, std::string_view text) {
  const Bytes bytes = as_bytes(text);
  return std::copy(bytes.begin(), bytes.end(), to);
}

std::byte* put(std::byte* to, std::uint32_t value) {
  const std::uint32_t stored = swap_bytes(value);
  std::memcpy(to, &stored, sizeof stored);
  return to + sizeof stored;
}

// Appends the CRC of a chunk of `size` bytes, which covers them and the four of its type.
std::byte* put_crc(std::byte* to, std::size_t size) {
  return put(to, zip_crc32({to - size - 4, size + 4}));
}

// Writes everything around the `size` bytes of image data at data_start. Returns the file's size.
std::size_t write_chunks(Shape shape, std::size_t size, std::byte* file) {
  const char kind[] = {8, shape.channels == 1 ? '\0' : '\2', 0, 0, 0};  // bits, colour type, …
  std::byte* to = put(file, "\x89PNG\r\n\x1a\n");
  to = put(put(to, 13), "IHDR");
  to = put(put(put(to, shape.width), shape.height), {kind, sizeof kind});
  to = put_crc(to, 13);
  to = put(put(to, static_cast<std::uint32_t>(size)), "IDAT");
  to = put_crc(to + size, size);
  to = put(put(to, 0), "IEND");
  return static_cast<std::size_t>(put_crc(to, 0) - file);
}

// Bytes up to which zlib runs at a faster level: at the usual one small drawings, such as digits,
// shrink by another 2 % in 1.5 times the time.
constexpr std::size_t small = std::size_t{64} << 10;
constexpr int small_level = 3;
constexpr int default_level = 6;

class PngEncoder {
 public:
  PngEncoder() {
    if (deflateInit(&zlib_, Z_DEFAULT_COMPRESSION) != Z_OK) throw std::bad_alloc();
  }
  ~PngEncoder() { deflateEnd(&zlib_); }
  PngEncoder(const PngEncoder&) = delete;
  PngEncoder& operator=(const PngEncoder&) = delete;

  void encode(const ImageView& image, Buffer& encoded) {
    filter(image);
    const std::size_t room = RunDeflater::bound(rows_.size());
    encoded.resize(data_start + room + 2 * png_chunk_overhead);
    const std::size_t size = compress(image, encoded.data() + data_start, room);
    encoded.resize(write_chunks(image.shape, size, encoded.data()));
  }

 private:
  void filter(const ImageView& image) {
    const std::size_t row_bytes = std::size_t{image.shape.width} * image.shape.channels;
    rows_.resize((1 + row_bytes) * image.shape.height);
    filtered_.set_size(row_bytes, image.shape.channels);
    const std::size_t padded = row_margin + row_bytes + row_margin;
    margins_.assign(2 * padded, std::byte{0});
    std::byte* above = margins_.data() + row_margin;
    std::byte* row = above + padded;
    std::byte* to = rows_.data();
    for (std::uint32_t y = 0; y < image.shape.height; ++y) {
      std::copy_n(image.pixels.data() + y * row_bytes, row_bytes, row);
      const Bytes best = filtered_.filter(row, above);
      to = std::copy(best.begin(), best.end(), to);
      std::swap(row, above);
    }
  }

  // Writes the zlib stream of the image data into `room` bytes, as RunDeflater::bound states.
  // Returns its size.
  std::size_t compress(const ImageView& image, std::byte* to, std::size_t room) {
    const std::size_t symbols = RunDeflater::count_symbols(rows_);
    if (symbols < rows_.size() / 2) {  // mostly runs: surely a drawing
      const std::size_t size = zlib(rows_for_zlib(image, symbols), to, room);
      if (size < room) return size;
    }
    const std::size_t size = runs_->deflate(rows_, to);
    const bool has_pattern =
        static_cast<double>(size) < drawing * static_cast<double>(rows_.size()) ||
        runs_->has_repeats(rows_);
    if (!has_pattern) return size;
    other_.resize(size);
    const std::size_t found = zlib(rows_for_zlib(image, symbols), other_.data(), size);
    if (found < size) std::copy_n(other_.data(), found, to);
    return std::min(found, size);
  }

  // The rows for zlib: filtered, which code to `symbols`, or plain where these code to fewer.
  const Buffer& rows_for_zlib(const ImageView& image, std::size_t symbols) {
    unfiltered_.resize(rows_.size());
    const std::size_t row_bytes = std::size_t{image.shape.width} * image.shape.channels;
    std::byte* to = unfiltered_.data();
    for (std::uint32_t y = 0; y < image.shape.height; ++y) {
      *to++ = std::byte{0};
      to = std::copy_n(image.pixels.data() + y * row_bytes, row_bytes, to);
    }
    return RunDeflater::count_symbols(unfiltered_) < symbols ? unfiltered_ : rows_;
  }

  // Writes at most `room` bytes and returns how many; returns `room` when they do not suffice.
  std::size_t zlib(const Buffer& rows, std::byte* to, std::size_t room) {
    deflateReset(&zlib_);
    deflateParams(&zlib_, rows.size() <= small ? small_level : default_level, Z_DEFAULT_STRATEGY);
    zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(rows.data()));
    zlib_.avail_in = static_cast<uInt>(rows.size());
    zlib_.next_out = reinterpret_cast<Bytef*>(to);
    zlib_.avail_out = static_cast<uInt>(room);
    return deflate(&zlib_, Z_FINISH) == Z_STREAM_END ? room - zlib_.avail_out : room;
  }

  FilteredRow filtered_;
  std::unique_ptr<RunDeflater> runs_ = std::make_unique<RunDeflater>();
  z_stream zlib_{};
  Buffer margins_, rows_, unfiltered_, other_;
};

}  // namespace

void encode_png(const ImageView& image, Buffer& encoded) {
  assert(image.shape.plausible() && image.pixels.size() == image.shape.bytes());
  thread_local PngEncoder encoder;
  encoder.encode(image, encoded);
}

}  // namespace feedrate::formats
