// WebP, lossy and lossless, with the size in its header fixed, and its parts beside the whole.

#include "tests/fuzz/decode.h"
#include "tests/support/webp_images.h"

namespace feedrate::fuzz {
using namespace formats;

namespace {

void mend(MutableBytes webp) {
  if (webp.size() < 12) return;
  const auto rest = static_cast<std::uint32_t>(webp.size() - 8);
  std::memcpy(webp.data() + 4, &rest, sizeof rest);
}

void check_part(Bytes encoded) {
  Shape shape;
  if (!accepts([&] { shape = webp_codec.shape(encoded); }) || shape.bytes() > large) return;
  Buffer whole(shape.bytes()), memory;
  if (!accepts([&] { webp_codec.decode(encoded, shape, whole); }, Decides::a_library)) return;
  const Rect part{shape.height / 3, shape.width / 3, (shape.height + 2) / 3, (shape.width + 2) / 3};
  const PixelRows rows = webp_codec.decode_part(encoded, shape, part, memory);
  const PixelRows expected = rows_of_part(whole.data(), shape, part);
  for (std::uint32_t y = 0; y < part.height; ++y) {
    require(std::memcmp(rows.first + y * rows.stride, expected.first + y * expected.stride,
                        std::size_t{part.width} * 3) == 0,
            "a part has the pixels of the whole");
  }
}

}  // namespace

std::vector<Buffer> seeds() {
  std::vector<Buffer> all;
  for (const bool lossless : {false, true}) {
    for (const bool alpha : {false, true}) {
      all.push_back(testing::make_webp(small_image({9, 21, 3}),
                                       {.lossless = lossless, .filter = 0, .alpha = alpha}));
    }
  }
  return all;
}

}  // namespace feedrate::fuzz

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                    unsigned seed) {
  return feedrate::fuzz::mutate_and_mend(data, size, most, seed, feedrate::fuzz::mend);
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace feedrate;
  const formats::Bytes encoded = fuzz::fenced(data, size);
  fuzz::check_codec(formats::webp_codec, encoded);
  fuzz::check_part(encoded);
  return 0;
}
