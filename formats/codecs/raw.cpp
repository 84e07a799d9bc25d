#include <algorithm>
#include <cassert>

#include "formats/codec.h"

namespace feedrate::formats {
namespace {

class RawCodec final : public Codec {
 public:
  RawCodec() : Codec("raw", "raw pixels: largest on disk, nothing to decode") {}

  bool knows(Bytes) const override { return false; }

  Shape shape(Bytes) const override {
    throw Error("raw pixels do not state their shape; their container has to");
  }

  void decode(Bytes encoded, Shape shape, MutableBytes pixels) const override {
    assert(pixels.size() == shape.bytes());
    check_size(encoded, shape);
    std::copy(encoded.begin(), encoded.end(), pixels.begin());
  }

  PixelRows decode_part(Bytes encoded, Shape shape, const Rect& part, Buffer&) const override {
    check_size(encoded, shape);
    return rows_of_part(encoded.data(), shape, part);
  }

  void encode(const ImageView& image, int, Buffer& encoded) const override {
    encoded.assign(image.pixels.begin(), image.pixels.end());
  }

 private:
  static void check_size(Bytes encoded, Shape shape) {
    if (encoded.size() == shape.bytes()) return;
    throw Error(join("expected ", shape.height, "x", shape.width, "x", shape.channels, " = ",
                     shape.bytes(), " bytes of pixels, found ", encoded.size()));
  }
};

const RawCodec raw_row;

}  // namespace

const Codec& raw_codec = raw_row;

}  // namespace feedrate::formats
