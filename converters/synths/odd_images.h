#pragma once
// The kinds of image that ImageNet holds a few of, and that trip up tools: grey, CMYK, with an EXIF
// orientation, and a PNG that is called a JPEG. Stateless: any thread.

#include "formats/pixels/image.h"

namespace feedrate::converters {

/// How a made image is stored.
enum class Storing : std::uint8_t { colour, grey, cmyk, turned, png };

/// Replaces `encoded` by the file of an RGB image. JPEGs are of that quality (1 … 100). `turned`
/// says in its EXIF block that it should be shown turned by 90 degrees, which nobody here does.
void store_image(const formats::ImageView& rgb, Storing storing, int quality,
                 formats::Buffer& encoded);

}  // namespace feedrate::converters
