#pragma once
// Which members of a sample hold the image and the label. Values.

#include <optional>
#include <string>
#include <string_view>

#include "formats/containers/wishes.h"

namespace feedrate::formats {

/// What a path to tars of samples may wish for.
inline constexpr Wish sample_wishes[] = {Wish::image, Wish::label, Wish::shape};

struct SampleKeys {
  /// An extension: "input.jpg", or "input" for all of its image types; empty: "jpg", "png", …
  std::string image = {};
  /// An extension; empty: none.
  std::string label = "cls";
  /// A key of the .json, where there is no such member; empty: none.
  std::string json_label = "label";
  /// Of raw pixels, where the path states it.
  std::optional<Shape> shape = {};
};

/// The place of an extension in the order in which those of images are taken, the likeliest first; nothing where it is
/// no image's. "seg.png" is none, unless it is wished for: it is another picture.
std::optional<std::size_t> image_rank(std::string_view extension, const SampleKeys& keys);

/// Extensions are compared so.
std::string lower_case(std::string_view extension);

/// "input" of "input.jpg"; nothing for an extension that is not of two parts, of which the last is an image's.
std::optional<std::string_view> compound_image(std::string_view extension);

}  // namespace feedrate::formats
