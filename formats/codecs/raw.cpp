#include <algorithm>
#include <cassert>

#include "formats/codec.h"

namespace feedrate {
namespace {

class RawCodec final : public Codec {
 public:
  RawCodec() : Codec("raw", "pixels as they are: largest on disk, nothing to decode") {}

  bool knows(Bytes) const override { return false; }

  Shape shape(Bytes) const override {
    throw Error("raw pixels do not tell their shape; what holds them has to");
  }

  void decode(Bytes encoded, Shape shape, MutableBytes pixels) const override {
    assert(pixels.size() == shape.bytes());
    if (encoded.size() != pixels.size()) {
      throw Error(join("expected ", shape.height, "x", shape.width, "x", shape.channels, " = ",
                       pixels.size(), " bytes of pixels, found ", encoded.size()));
    }
    std::copy(encoded.begin(), encoded.end(), pixels.begin());
  }

  void encode(const ImageView& image, int, Buffer& encoded) const override {
    encoded.assign(image.pixels.begin(), image.pixels.end());
  }
};

const RawCodec row;

}  // namespace

const Codec& raw_codec = row;

}  // namespace feedrate
