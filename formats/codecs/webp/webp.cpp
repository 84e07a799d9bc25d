// WebP, lossy and lossless, read by libwebp with its defaults; not written. Images decode to RGB:
// alpha is dropped, as of PNGs, and the colours under it stay as they are stored. Colour profiles
// and EXIF are ignored.
//
//   R I F F | u32le bytes that follow | W E B P | chunks: "VP8 " lossy, "VP8L" lossless, "VP8X" with
//   more around one of them. An odd chunk is followed by a zero, which some writers leave out last.

#include <webp/decode.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "formats/codec.h"
#include "formats/codecs/expect_shape.h"

namespace feedrate::formats {
namespace {

constexpr std::size_t riff_head = 8;  // "RIFF" and the size of what follows
constexpr std::size_t file_head = 12;
constexpr std::size_t first_chunk = file_head + 8;

// What libwebp's results mean, for VP8_STATUS_OK onwards.
constexpr std::array<std::string_view, 8> reasons = {"no error",
                                                     "there is not enough memory",
                                                     "a parameter is invalid",
                                                     "its bits are not as they should be",
                                                     "it has a feature that libwebp does not know",
                                                     "it ends too early",
                                                     "decoding was stopped",
                                                     "it ends too early"};

[[noreturn]] void refuse(VP8StatusCode status) {
  throw Error(
      join("WebP is damaged: ", reasons[std::min<std::size_t>(status, reasons.size() - 1)]));
}

const std::uint8_t* plain(const std::byte* bytes) {
  return reinterpret_cast<const std::uint8_t*>(bytes);
}

// A file cut off may still give an image, which must not go unnoticed.
void check_size(Bytes encoded) {
  if (encoded.size() < first_chunk) {
    throw Error(join("a WebP of ", encoded.size(), " bytes is truncated inside its header"));
  }
  const std::uint64_t stated =
      riff_head + std::uint64_t{load_le<std::uint32_t>(encoded.data() + 4)};
  if (stated > encoded.size()) {
    throw Error(
        join("WebP header states ", stated, " bytes, found ", encoded.size(), ": truncated?"));
  }
}

class WebpCodec final : public Codec {
 public:
  WebpCodec() : Codec("webp", "lossy or lossless; read, not written") {}

  bool knows(Bytes encoded) const override {
    return encoded.size() >= file_head && as_text(encoded.first(4)) == "RIFF" &&
           as_text(encoded.subspan(riff_head, 4)) == "WEBP";
  }

  Shape shape(Bytes encoded) const override {
    if (!knows(encoded)) throw Error("not a WebP: the signature is damaged");
    check_size(encoded);
    WebPBitstreamFeatures features;
    const VP8StatusCode status = WebPGetFeatures(plain(encoded.data()), encoded.size(), &features);
    if (status != VP8_STATUS_OK) refuse(status);
    if (features.has_animation != 0) {
      throw Error("an animated WebP is many pictures, and a sample has one; extract a frame first");
    }
    const Shape shape{static_cast<std::uint32_t>(features.height),
                      static_cast<std::uint32_t>(features.width), 3};
    if (!shape.plausible()) {
      throw Error(join("WebP header states ", shape.height, "x", shape.width, " pixels"));
    }
    return shape;
  }

  void decode(Bytes encoded, Shape wanted, MutableBytes pixels) const override {
    expect_shape(shape(encoded), wanted, "WebP");
    assert(pixels.size() == wanted.bytes());
    decode_region(encoded, {0, 0, wanted.height, wanted.width}, pixels);
  }

  // libwebp stops below a crop, and converts the colours of nothing else. At a crop's edges it
  // interpolates chroma as at an image's: a margin makes the pixels those of the whole image.
  PixelRows decode_part(Bytes encoded, Shape wanted, const Rect& part,
                        Buffer& memory) const override {
    expect_shape(shape(encoded), wanted, "WebP");
    constexpr std::uint32_t margin =
        2;  // one sample of chroma; libwebp's crops begin at even pixels
    const std::uint32_t y = (std::max(part.y, margin) - margin) & ~1U;
    const std::uint32_t x = (std::max(part.x, margin) - margin) & ~1U;
    const Rect region{y, x, std::min(wanted.height, part.y + part.height + margin) - y,
                      std::min(wanted.width, part.x + part.width + margin) - x};
    const Shape decoded{region.height, region.width, wanted.channels};
    const MutableBytes pixels = grown(memory, decoded.bytes());
    decode_region(encoded, region, pixels);
    return rows_of_part(pixels.data(), decoded, {part.y - y, part.x - x, part.height, part.width});
  }

  bool encodes() const override { return false; }

 private:
  static void decode_region(Bytes encoded, const Rect& region, MutableBytes pixels) {
    WebPDecoderConfig config;
    [[maybe_unused]] const int same_version = WebPInitDecoderConfig(&config);
    assert(same_version != 0);  // the linked library's and its headers'
    config.options.use_cropping = 1;
    config.options.crop_top = static_cast<int>(region.y);
    config.options.crop_left = static_cast<int>(region.x);
    config.options.crop_height = static_cast<int>(region.height);
    config.options.crop_width = static_cast<int>(region.width);
    config.output.colorspace = MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = reinterpret_cast<std::uint8_t*>(pixels.data());
    config.output.u.RGBA.stride = static_cast<int>(region.width * 3);
    config.output.u.RGBA.size = pixels.size();
    const VP8StatusCode status = WebPDecode(plain(encoded.data()), encoded.size(), &config);
    WebPFreeDecBuffer(&config.output);
    if (status != VP8_STATUS_OK) refuse(status);
  }
};

const WebpCodec webp_row;

}  // namespace

const Codec& webp_codec = webp_row;

}  // namespace feedrate::formats
