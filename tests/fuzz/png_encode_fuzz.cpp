// Encodes arbitrary pixels as PNG and decodes them with our decoder and with libpng.
//
//   u8 kind: bit 0 colour, bits 1 to 4 repeats | u8 step | u16le width | pixels
//
// The pixels repeat, brighter by `step` each time, which makes runs, patterns and large images from
// few bytes.

#include <algorithm>

#include "formats/codecs/png/plain_png.h"
#include "tests/fuzz/decode.h"
#include "tests/fuzz/libpng.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

constexpr std::size_t head_bytes = 4;
constexpr std::size_t max_bytes = std::size_t{256} << 10;
constexpr std::uint32_t widest = 4096;
constexpr std::size_t max_height = 65535;  // the limit of Shape::plausible

// The height is 0 when there are too few pixels for a row.
Image image_of(Bytes input) {
  Image image;
  if (input.size() <= head_bytes) return image;
  const auto kind = static_cast<unsigned>(input[0]), step = static_cast<unsigned>(input[1]);
  const Bytes tile = input.subspan(head_bytes);
  const std::size_t repeats = std::size_t{1} << (kind >> 1 & 15);
  const std::size_t size = std::min(tile.size() * repeats, max_bytes);
  image.shape.channels = (kind & 1) != 0 ? 3 : 1;
  image.shape.width = 1 + load_le<std::uint16_t>(input.data() + 2) % widest;
  const std::size_t row_bytes = std::size_t{image.shape.width} * image.shape.channels;
  image.shape.height = static_cast<std::uint32_t>(std::min(size / row_bytes, max_height));
  image.pixels.resize(image.shape.bytes());
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    const auto lighter = static_cast<unsigned>(i / tile.size()) * step;
    image.pixels[i] =
        static_cast<std::byte>(static_cast<unsigned>(tile[i % tile.size()]) + lighter);
  }
  return image;
}

Buffer seed(unsigned kind, unsigned step, std::uint16_t width, Bytes pixels) {
  Buffer all{static_cast<std::byte>(kind), static_cast<std::byte>(step)};
  append_le(all, width);
  append(all, pixels);
  return all;
}

}  // namespace

std::vector<Buffer> seeds() {
  const Image grey = small_image({16, 16, 1}), colour = small_image({6, 7, 3});
  return {seed(0, 0, 15, grey.pixels), seed(1, 0, 6, colour.pixels),
          seed(2 * 9, 0, 299, Bytes(grey.pixels).first(2)),
          seed(2 * 10 + 1, 3, 99, Bytes(colour.pixels).first(100))};
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate::formats;
  using namespace feedrate::fuzz;
  const Image image = image_of(fenced(data, size));
  if (image.shape.height == 0) return 0;
  const Bytes pixels =
      fenced(reinterpret_cast<const std::uint8_t*>(image.pixels.data()), image.pixels.size());
  Buffer encoded, again;
  accepts([&] { encode_png({image.shape, pixels}, encoded); });
  Canvas ours(image.shape.bytes(), std::byte{0x55});
  require(decode_plain_png(encoded, image.shape, ours.pixels()), "our decoder reads our encoder");
  require(ours.margins_are_left_alone(), "a decoder keeps to the image");
  require(same(ours.pixels(), pixels), "our decoder gives the pixels back");
  const auto referee = read_by_libpng(encoded, image.shape);
  require(referee && same(*referee, pixels), "libpng gives the pixels back");
  encode_png({image.shape, pixels}, again);
  require(same(encoded, again), "the same pixels give the same bytes whatever came before");
  return 0;
}
