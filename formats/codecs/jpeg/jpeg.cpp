#include "formats/codecs/jpeg/jpeg.h"

#include <algorithm>
#include <cassert>

#include "formats/codec.h"
#include "formats/codecs/expect_shape.h"

namespace feedrate::formats {
namespace {

constexpr int default_quality = 95;  // of cv2.imwrite and im2rec

class JpegCodec final : public Codec {
 public:
  JpegCodec() : Codec("jpeg", "lossy, about a sixth of raw for photographs at quality 95") {}

  bool knows(Bytes encoded) const override {
    return as_text(encoded.first(std::min<std::size_t>(encoded.size(), 3))) == "\xff\xd8\xff";
  }

  Shape shape(Bytes encoded) const override { return jpeg_header(encoded).shape; }

  void decode(Bytes encoded, Shape wanted, MutableBytes pixels) const override {
    expect_shape(shape(encoded), wanted, "JPEG");
    assert(pixels.size() == wanted.bytes());
    decode_jpeg(encoded, wanted, pixels);
  }

  std::string decode_strictly(Bytes encoded, Shape wanted, MutableBytes pixels) const override {
    expect_shape(shape(encoded), wanted, "JPEG");
    return decode_jpeg(encoded, wanted, pixels);
  }

  PixelRows decode_part(Bytes encoded, Shape wanted, const Rect& part,
                        Buffer& memory) const override {
    expect_shape(shape(encoded), wanted, "JPEG");
    return decode_jpeg_part(encoded, wanted, part, memory);
  }

  void encode(const ImageView& image, int quality, Buffer& encoded) const override {
    assert(image.shape.plausible() && image.pixels.size() == image.shape.bytes());
    assert(quality >= 0 && quality <= 100);
    encode_jpeg(image, quality == 0 ? default_quality : quality, encoded);
  }

  bool has_quality() const override { return true; }
  std::string_view extension() const override { return "jpg"; }
};

const JpegCodec jpeg_row;

}  // namespace

const Codec& jpeg_codec = jpeg_row;

}  // namespace feedrate::formats
