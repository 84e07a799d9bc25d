#pragma once
// The values of MDS columns that hold images: files (jpeg, png, bytes), lists of one (jpeg_array, list[png]), Pillow's
// pixels (pil) and NumPy's (ndarray).

#include <string_view>

#include "formats/containers/column_choice.h"
#include "formats/sample.h"

namespace feedrate::formats {

/// Whether a column of this encoding holds images.
Fit as_mds_image(std::string_view encoding);

/// Those for people.
inline constexpr std::string_view mds_image_encodings = "jpeg, png, pil, bytes, ndarray:uint8";

/// True where images are pixels and not files.
bool is_mds_pixels(std::string_view encoding);

/// Sets the image of `sample`: a view of `value`, or of `memory`. Throws Error for damage, for a list of several
/// images, and for pixels that are not 8 bits each of grey or colour.
void read_mds_image(std::string_view encoding, Bytes value, Buffer& memory, Sample& sample);

}  // namespace feedrate::formats
