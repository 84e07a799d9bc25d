// JPEG. The decoder is reused from image to image; no image may affect the next.

#include "tests/fuzz/decode.h"
#include "tests/support/make_jpeg.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

// After any input, a valid image still decodes to the same pixels.
void check_that_nothing_is_left_behind() {
  static const Shape shape{9, 11, 3};
  static const Buffer encoded = [] {
    Buffer bytes;
    jpeg_codec.encode(small_image(shape), bytes);
    return bytes;
  }();
  const auto decoded = [] {
    Buffer pixels(shape.bytes());
    jpeg_codec.decode(encoded, shape, pixels);
    return pixels;
  };
  static const Buffer expected = decoded();
  require(decoded() == expected, "an image leaves nothing behind for the next one");
}

}  // namespace

std::vector<Buffer> seeds() {
  std::vector<Buffer> all;
  for (const Shape shape : {Shape{8, 8, 1}, Shape{17, 9, 3}}) {
    jpeg_codec.encode(small_image(shape), all.emplace_back());
  }
  using testing::JpegKind;
  const JpegKind kinds[] = {
      {.progressive = true},
      {.arithmetic = true, .restart = 1},
      {.across = 1, .down = 1, .progressive = true, .arithmetic = true},
      {.stored = JCS_RGB, .across = 1, .down = 1},
      {.from = JCS_CMYK, .stored = JCS_YCCK},
      {.from = JCS_CMYK, .stored = JCS_CMYK, .restart = 2},
  };
  for (const JpegKind& kind : kinds) {
    const Shape shape{9, 17, kind.from == JCS_CMYK ? 4U : 3U};
    all.push_back(testing::make_jpeg(kind, shape.width, shape.height, small_image(shape).pixels));
  }
  return all;
}

}  // namespace feedrate::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  feedrate::fuzz::check_codec(feedrate::formats::jpeg_codec, feedrate::fuzz::fenced(data, size));
  feedrate::fuzz::check_that_nothing_is_left_behind();
  return 0;
}
