// Packed JPEGs: a frame with checksums of its own, and libjpeg given arbitrary coefficients.

#include "formats/base/error.h"
#include "formats/codecs/packed/packed.h"
#include "formats/codecs/packed/packed_part.h"
#include "tests/fuzz/decode.h"
#include "tests/support/make_jpeg.h"
#include "tests/support/mend_packed.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

bool is_copied(Bytes encoded, Shape shape, const Rect& part) {
  return accepts([&] {
    const PackedImage record = packed_image(encoded);
    const std::optional<PackedPart> needed = packed_part(record, shape, part);
    if (!needed) throw Error("left to libjpeg");
    Buffer copy(packed_part_bytes(record, *needed));
    copy_packed_part(record, *needed, copy);
  });
}

// A decoded region equals that part of the whole image; damage outside it goes unnoticed.
void check_part(Bytes encoded) {
  Shape shape;
  if (!accepts([&] { shape = packed_codec.shape(encoded); }) || shape.bytes() > large) return;
  Buffer memory, pixels(shape.bytes());
  const Rect part{shape.height / 3, shape.width / 3, (shape.height + 2) / 3, (shape.width + 2) / 3};
  PixelRows rows;
  const bool taken =
      accepts([&] { rows = packed_codec.decode_part(encoded, shape, part, memory); });
  const bool whole = accepts([&] { packed_codec.decode(encoded, shape, pixels); });
  require(taken || !whole, "a part of a sound image is sound");
  require(taken || !is_copied(encoded, shape, part), "what a device is given is sound");
  if (!whole) return;
  const PixelRows expected = rows_of_part(pixels.data(), shape, part);
  for (std::size_t y = 0; y < part.height; ++y) {
    const std::size_t size = std::size_t{part.width} * shape.channels;
    require(
        same({rows.first + y * rows.stride, size}, {expected.first + y * expected.stride, size}),
        "a part is what the whole image has there");
  }
}

}  // namespace

std::vector<Buffer> seeds() {
  std::vector<Buffer> all;
  for (const Shape shape : {Shape{8, 8, 1}, Shape{17, 70, 3}}) {
    packed_codec.encode(small_image(shape), all.emplace_back());
  }
  using testing::JpegKind;
  const JpegKind kinds[] = {
      {.quality = 100, .across = 1, .down = 1},
      {.across = 2, .down = 1, .progressive = true},
      {.stored = JCS_RGB, .across = 1, .down = 1},
      {.from = JCS_CMYK, .stored = JCS_YCCK},
  };
  for (const JpegKind& kind : kinds) {
    const Shape shape{9, 17, kind.from == JCS_CMYK ? 4U : 3U};
    pack_jpeg(testing::make_jpeg(kind, shape.width, shape.height, small_image(shape).pixels),
              all.emplace_back());
  }
  return all;
}

}  // namespace feedrate::fuzz

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
  return feedrate::fuzz::mutate_and_mend(data, size, most, seed,
                                         feedrate::testing::mend_packed_jpeg);
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  feedrate::fuzz::check_codec(feedrate::formats::packed_codec, feedrate::fuzz::fenced(data, size));
  feedrate::fuzz::check_part(feedrate::fuzz::fenced(data, size));
  return 0;
}
