#include "converters/synths/odd_images.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "formats/codec.h"

namespace feedrate::converters {
using namespace formats;

namespace {

using namespace std::string_view_literals;

constexpr std::size_t start_bytes = 2;  // FF D8, which everything stands behind
constexpr std::size_t end_bytes = 2;    // FF D9

// An EXIF block that says one thing, Orientation = 6: APP1, its length, a little-endian TIFF
// header, a directory of one entry.
constexpr std::string_view exif_turned =
    "\xff\xe1\0\x22"
    "Exif\0\0"
    "II\x2a\0\x08\0\0\0"
    "\x01\0"
    "\x12\x01\x03\0\x01\0\0\0\x06\0\0\0"
    "\0\0\0\0"sv;

// Adobe's marker with colour transform 0: four components are C, M, Y, K, stored inverted.
constexpr std::string_view adobe_cmyk =
    "\xff\xee\0\x0e"
    "Adobe\0\x64\0\0\0\0\0"sv;

Image one_channel(Shape shape) {
  shape.channels = 1;
  return {shape, Buffer(shape.bytes())};
}

Image grey_of(const ImageView& rgb) {
  Image grey = one_channel(rgb.shape);
  for (std::size_t i = 0; i < grey.pixels.size(); ++i) {
    const auto of = [&](std::size_t channel) {
      return std::to_integer<unsigned>(rgb.pixels[3 * i + channel]);
    };
    grey.pixels[i] = static_cast<std::byte>((299 * of(0) + 587 * of(1) + 114 * of(2) + 500) / 1000);
  }
  return grey;
}

// C, M, Y, K, inverted. Black takes what the other three have in common.
std::array<Image, 4> inks_of(const ImageView& rgb) {
  std::array<Image, 4> inks;
  inks.fill(one_channel(rgb.shape));
  for (std::size_t i = 0; i < inks[0].pixels.size(); ++i) {
    const std::byte* const pixel = &rgb.pixels[3 * i];
    const auto light = std::to_integer<unsigned>(std::max({pixel[0], pixel[1], pixel[2]}));
    for (std::size_t ink = 0; ink < 3; ++ink) {
      const auto value = std::to_integer<unsigned>(pixel[ink]);
      inks[ink].pixels[i] =
          static_cast<std::byte>(light == 0 ? 255 : (value * 255 + light / 2) / light);
    }
    inks[3].pixels[i] = static_cast<std::byte>(light);
  }
  return inks;
}

constexpr std::uint8_t dqt = 0xdb, dht = 0xc4, sos = 0xda;

// Calls `take` for each segment (its marker's second byte, all its bytes) up to the scan; returns
// what follows the header of that.
template <class Take>
Bytes walk_segments(Bytes jpeg, Take take) {
  std::size_t at = start_bytes;
  for (;;) {
    assert(jpeg[at] == std::byte{0xff});  // the encoder is ours
    const auto marker = std::to_integer<std::uint8_t>(jpeg[at + 1]);
    const std::size_t size = 2 + load_be<std::uint16_t>(&jpeg[at + 2]);
    take(marker, jpeg.subspan(at, size));
    at += size;
    if (marker == sos) return jpeg.subspan(at, jpeg.size() - at - end_bytes);
  }
}

void put(Buffer& to, std::initializer_list<unsigned> bytes) {
  for (const unsigned byte : bytes) to.push_back(static_cast<std::byte>(byte));
}

// A JPEG of four components, each in a scan of its own, is what four grey JPEGs with the same
// tables become when the header says so.
void encode_cmyk(const ImageView& rgb, int quality, Buffer& encoded) {
  const Shape shape = rgb.shape;
  encoded.clear();
  put(encoded, {0xff, 0xd8});
  append(encoded, as_bytes(adobe_cmyk));
  put(encoded, {0xff, 0xc0, 0, 8 + 3 * 4, 8, shape.height >> 8, shape.height & 0xff,
                shape.width >> 8, shape.width & 0xff, 4});
  for (unsigned ink = 1; ink <= 4; ++ink) put(encoded, {ink, 0x11, 0});
  Buffer grey;
  unsigned ink = 0;
  for (const Image& image : inks_of(rgb)) {
    jpeg_codec.encode(image, quality, grey);
    const Bytes scan = walk_segments(grey, [&](std::uint8_t marker, Bytes segment) {
      if (ink == 0 && (marker == dqt || marker == dht)) append(encoded, segment);
    });
    put(encoded, {0xff, sos, 0, 8, 1, ++ink, 0, 0, 63, 0});
    append(encoded, scan);
  }
  put(encoded, {0xff, 0xd9});
}

}  // namespace

void store_image(const ImageView& rgb, Storing storing, int quality, Buffer& encoded) {
  assert(rgb.shape.channels == 3);
  switch (storing) {
    case Storing::colour:
      return jpeg_codec.encode(rgb, quality, encoded);
    case Storing::grey:
      return jpeg_codec.encode(grey_of(rgb), quality, encoded);
    case Storing::cmyk:
      return encode_cmyk(rgb, quality, encoded);
    case Storing::png:
      return png_codec.encode(rgb, encoded);
    case Storing::turned: {
      jpeg_codec.encode(rgb, quality, encoded);
      const Bytes exif = as_bytes(exif_turned);
      encoded.insert(encoded.begin() + start_bytes, exif.begin(), exif.end());
    }
  }
}

}  // namespace feedrate::converters
