#pragma once
// What a decoder makes of a JPEG: pixels, or the message of its error.

#include <optional>
#include <string>

#include "formats/base/error.h"
#include "formats/codecs/jpeg/jpeg_ways.h"

namespace feedrate::testing {

struct JpegOutcome {
  formats::Buffer pixels;
  std::string error;

  bool operator==(const JpegOutcome&) const = default;
};

/// Decodes the whole image, or only `part` of it, which uses `memory` and `aid`.
inline JpegOutcome jpeg_outcome(const formats::HuffmanDecoding* how, formats::Bytes encoded,
                                formats::Shape shape, const std::optional<formats::Rect>& part,
                                formats::Buffer& memory, const formats::JpegAid& aid = {}) {
  JpegOutcome outcome;
  try {
    if (!part) {
      outcome.pixels.resize(shape.bytes());
      decode_jpeg(how, encoded, shape, outcome.pixels);
      return outcome;
    }
    const formats::PixelRows rows = decode_jpeg_part(how, encoded, shape, *part, memory, aid);
    for (std::size_t y = 0; y < part->height; ++y) {
      formats::append(outcome.pixels,
                      {rows.first + y * rows.stride, std::size_t{part->width} * shape.channels});
    }
  } catch (const formats::Error& error) {
    outcome = {{}, error.what()};
  }
  return outcome;
}

}  // namespace feedrate::testing
