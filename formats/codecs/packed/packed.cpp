#include "formats/codecs/packed/packed.h"

#include <cassert>

#include "formats/codec.h"
#include "formats/codecs/expect_shape.h"
#include "formats/codecs/jpeg/jpeg.h"
#include "formats/codecs/packed/packed_image.h"

namespace feedrate::formats {
namespace {

Shape shape_of(Bytes encoded, const PackedImage& record) {
  const JpegHeader header = jpeg_header(record.head, encoded.size());
  if (header.progressive || header.arithmetic) {
    throw Error("packed JPEG is damaged: its head is not that of a baseline JPEG");
  }
  return header.shape;
}

PackedImage checked(Bytes encoded, Shape wanted) {
  const PackedImage record = packed_image(encoded);
  expect_shape(shape_of(encoded, record), wanted, "packed JPEG");
  return record;
}

class PackedCodec final : public Codec {
 public:
  PackedCodec()
      : Codec("packed",
              "JPEG without Huffman codes: same pixels, faster to decode, readable only by "
              "Feedrate") {}

  bool knows(Bytes encoded) const override { return is_packed_jpeg(encoded); }
  Shape shape(Bytes encoded) const override { return packed_jpeg_shape(encoded); }

  void decode(Bytes encoded, Shape wanted, MutableBytes pixels) const override {
    decode_packed_jpeg(encoded, wanted, pixels);
  }

  PixelRows decode_part(Bytes encoded, Shape wanted, const Rect& part,
                        Buffer& memory) const override {
    return decode_packed_jpeg_part(encoded, wanted, part, memory);
  }

  bool recodes(const Codec& from) const override { return &from == &jpeg_codec; }
  void recode(Bytes encoded, Buffer& to) const override { pack_jpeg(encoded, to); }

  void encode(const ImageView& image, int quality, Buffer& encoded) const override {
    thread_local Buffer jpeg;
    jpeg_codec.encode(image, quality, jpeg);
    pack_jpeg(jpeg, encoded);
  }

  bool has_quality() const override { return true; }
};

const PackedCodec packed_row;

}  // namespace

bool is_packed_jpeg(Bytes encoded) { return as_text(encoded).starts_with(packed_magic); }

Shape packed_jpeg_shape(Bytes encoded) { return shape_of(encoded, packed_image(encoded)); }

void decode_packed_jpeg(Bytes encoded, Shape shape, MutableBytes pixels) {
  const PackedImage record = checked(encoded, shape);
  PackedScan scan(record);
  decode_jpeg_scan(record.head, packed_fixed, scan, shape, pixels);
}

PixelRows decode_packed_jpeg_part(Bytes encoded, Shape shape, const Rect& part, Buffer& memory) {
  const PackedImage record = checked(encoded, shape);
  PackedScan scan(record);
  return decode_jpeg_scan_part(record.head, packed_fixed, scan, shape, part, memory);
}

const Codec& packed_codec = packed_row;

}  // namespace feedrate::formats
