#pragma once
// WebPs as other tools write them, made by libwebp's encoder.

#include <webp/encode.h>

#include <cassert>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/pixels/image.h"

namespace feedrate::testing {

struct WebpKind {
  bool lossless = false;
  float quality = 80;
  int filter = 1;      // 0: simple, 1: strong
  int strength = 60;   // of the filter, 0: none
  bool alpha = false;  // a ramp from 0 to 255; the image becomes an extended file
};

/// `image`, in colour, as a WebP of that kind.
inline formats::Buffer make_webp(const formats::Image& image, const WebpKind& kind = {}) {
  assert(image.shape.channels == 3);
  WebPConfig config;
  WebPPicture picture;
  WebPMemoryWriter writer;
  bool good = WebPConfigInit(&config) != 0 && WebPPictureInit(&picture) != 0;
  WebPMemoryWriterInit(&writer);
  config.lossless = kind.lossless ? 1 : 0;
  config.quality = kind.quality;
  config.filter_type = kind.filter;
  config.filter_strength = kind.strength;
  config.method = 2;
  config.exact = 1;  // colours stay where nothing is seen
  picture.use_argb = 1;
  picture.width = static_cast<int>(image.shape.width);
  picture.height = static_cast<int>(image.shape.height);
  picture.writer = WebPMemoryWrite;
  picture.custom_ptr = &writer;
  formats::Buffer rgba;
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
    formats::append(rgba, formats::Bytes(image.pixels).subspan(i, 3));
    rgba.push_back(kind.alpha ? static_cast<std::byte>(i / 3) : std::byte{255});
  }
  good = good &&
         WebPPictureImportRGBA(&picture, reinterpret_cast<const std::uint8_t*>(rgba.data()),
                               picture.width * 4) != 0 &&
         WebPEncode(&config, &picture) != 0;
  const auto* bytes = reinterpret_cast<const std::byte*>(writer.mem);
  formats::Buffer encoded(bytes, bytes + (good ? writer.size : 0));
  WebPMemoryWriterClear(&writer);
  WebPPictureFree(&picture);
  assert(!encoded.empty());
  return encoded;
}

/// The beginning of an animation of 3x2 pixels, up to its first frame.
inline formats::Buffer make_animated_webp() {
  using namespace std::string_view_literals;
  const formats::Bytes bytes = formats::as_bytes(
      "RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x02\0\0\x01\0\0ANIM\x06\0\0\0\0\0\0\0\0\0"sv);
  return {bytes.begin(), bytes.end()};
}

}  // namespace feedrate::testing
