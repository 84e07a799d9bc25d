#pragma once
// Checks that hold for every codec and any input.

#include <algorithm>

#include "formats/codec.h"
#include "tests/fuzz/fuzz.h"

namespace feedrate::fuzz {
using namespace formats;

/// In bytes. Larger images are valid but would only take time.
inline constexpr std::size_t large = std::size_t{1} << 20;

/// Memory for an image, filled with one value, between two margins that a decoder must not touch.
class Canvas {
 public:
  Canvas(std::size_t size, std::byte fill)
      : fill_(fill), memory_(margin + size + margin, fill), size_(size) {}

  MutableBytes pixels() { return MutableBytes(memory_).subspan(margin, size_); }
  bool margins_are_left_alone() const {
    const auto untouched = [this](std::byte b) { return b == fill_; };
    return std::all_of(memory_.begin(), memory_.begin() + margin, untouched) &&
           std::all_of(memory_.end() - margin, memory_.end(), untouched);
  }

 private:
  static constexpr std::ptrdiff_t margin = 64;
  std::byte fill_;
  Buffer memory_;
  std::size_t size_;
};

/// Decodes the bytes if the codec accepts them. Checks that every pixel comes from the input, that
/// nothing else is touched, and that encoding and decoding again works.
inline void check_codec(const Codec& codec, Bytes encoded) {
  Shape shape;
  if (!accepts([&] { shape = codec.shape(encoded); })) return;
  require(shape.plausible(), "a shape that decoders may allocate");
  if (shape.bytes() > large) return;
  Canvas black(shape.bytes(), std::byte{0}), white(shape.bytes(), std::byte{0xff});
  const bool decoded =
      accepts([&] { codec.decode(encoded, shape, black.pixels()); }, Decides::a_library);
  const bool again = accepts([&] { codec.decode(encoded, shape, white.pixels()); });
  require(decoded == again, "the same bytes are sound or damaged, not now this and now that");
  require(black.margins_are_left_alone() && white.margins_are_left_alone(),
          "a decoder keeps to the image");
  if (!decoded) return;
  require(same(black.pixels(), white.pixels()), "a decoder sets every pixel, from the input alone");
  if (!codec.encodes()) return;
  Buffer rewritten;
  codec.encode({shape, black.pixels()}, rewritten);
  require(codec.knows(rewritten), "what was encoded is known by its signature");
  require(codec.shape(rewritten) == shape, "an image keeps its size when it is encoded");
  codec.decode(rewritten, shape, white.pixels());
  if (!codec.has_quality()) {
    require(same(black.pixels(), white.pixels()), "a lossless codec loses nothing");
  }
}

/// Small images, grey and in colour, neither uniform nor noise.
inline Image small_image(Shape shape) {
  Image image{shape, Buffer(shape.bytes())};
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = static_cast<std::byte>(i * 7 + i / shape.width * 30);
  }
  return image;
}

}  // namespace feedrate::fuzz
