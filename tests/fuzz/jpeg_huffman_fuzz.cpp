// Our Huffman decoders of JPEGs: with each of them, the same pixels or the same error as
// libjpeg-turbo alone, for whole images and for parts, with and without a crop index.

#include <optional>
#include <random>
#include <string>

#include "formats/codecs/jpeg/jpeg_index.h"
#include "formats/codecs/jpeg/jpeg_ways.h"
#include "tests/fuzz/decode.h"
#include "tests/support/jpeg_outcome.h"
#include "tests/support/make_jpeg.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

constexpr std::size_t small = std::size_t{1} << 19;  // bytes of pixels

using Outcome = testing::JpegOutcome;

Outcome outcome_of(const HuffmanDecoding* how, Bytes encoded, Shape shape,
                   std::optional<Rect> part) {
  Buffer memory;
  return testing::jpeg_outcome(how, encoded, shape, part, memory);
}

// The codes of an image of noise exceed the decoder's window several times.
Buffer dense_jpeg(testing::JpegKind kind, std::uint32_t width, std::uint32_t height) {
  std::mt19937 random(1);
  const std::size_t channels = kind.from == JCS_GRAYSCALE ? 1 : kind.from == JCS_CMYK ? 4 : 3;
  Buffer pixels(std::size_t{width} * height * channels);
  for (std::byte& pixel : pixels) pixel = static_cast<std::byte>(random());
  return testing::make_jpeg(kind, width, height, pixels);
}

// A sound JPEG's own index is never called stale and changes no pixel.
void check_index(Bytes encoded, Shape shape) {
  Buffer entry, memory;
  make_jpeg_index(encoded, entry, 1);
  if (entry.empty()) return;
  for (const Rect& part :
       {Rect{0, 0, shape.height, shape.width},
        Rect{shape.height / 3, shape.width / 3, (shape.height + 2) / 3, (shape.width + 2) / 3},
        Rect{0, shape.width / 2, shape.height, (shape.width + 1) / 2}}) {
    const Outcome expected = testing::jpeg_outcome(nullptr, encoded, shape, part, memory);
    for (const HuffmanDecoding* how : runnable_huffman_decodings()) {
      JpegCounts counts;
      require(
          testing::jpeg_outcome(how, encoded, shape, part, memory, {entry, &counts}) == expected,
          "an index changes no pixel");
      require(counts.indexed == 1 && counts.stale == 0, "a fresh index is used");
    }
  }
}

void check(Bytes encoded) {
  Shape shape;
  if (!accepts([&] { shape = jpeg_header(encoded).shape; }) || shape.bytes() > small) return;
  const Rect middle{shape.height / 3, shape.width / 3, (shape.height + 2) / 3,
                    (shape.width + 2) / 3};
  for (const std::optional<Rect>& part : {std::optional<Rect>(), std::optional(middle)}) {
    const Outcome expected = outcome_of(nullptr, encoded, shape, part);
    if (!expected.error.empty()) complained(expected.error);
    for (const HuffmanDecoding* how : runnable_huffman_decodings()) {
      require(outcome_of(how, encoded, shape, part) == expected,
              "every way has libjpeg-turbo's pixels or error");
    }
  }
  check_index(encoded, shape);
}

}  // namespace

std::vector<Buffer> seeds() {
  std::vector<Buffer> all;
  using testing::JpegKind;
  for (const int across : {1, 2}) {
    for (const unsigned restart : {0U, 1U, 3U}) {
      JpegKind kind{.across = across, .down = across, .restart = restart};
      kind.optimal = restart == 1;
      all.push_back(testing::make_jpeg(kind, 37, 19, small_image({19, 37, 3}).pixels));
    }
  }
  JpegKind grey{.from = JCS_GRAYSCALE, .stored = JCS_GRAYSCALE, .quality = 100};
  grey.optimal = true;
  all.push_back(testing::make_jpeg(grey, 17, 9, small_image({9, 17, 1}).pixels));
  all.push_back(testing::make_jpeg({.from = JCS_CMYK, .stored = JCS_YCCK}, 9, 17,
                                   small_image({17, 9, 4}).pixels));
  for (const auto& [across, down] : {std::pair(1, 1), {2, 1}, {1, 2}, {2, 2}, {4, 1}}) {
    all.push_back(dense_jpeg({.quality = 97, .across = across, .down = down}, 800, 96));
  }
  all.push_back(dense_jpeg({.quality = 97, .restart = 40}, 800, 96));
  all.push_back(dense_jpeg({.from = JCS_CMYK, .stored = JCS_YCCK, .quality = 97}, 800, 96));
  all.push_back(
      dense_jpeg({.from = JCS_GRAYSCALE, .stored = JCS_GRAYSCALE, .quality = 97}, 800, 96));
  return all;
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  feedrate::fuzz::check(feedrate::fuzz::fenced(data, size));
  return 0;
}
