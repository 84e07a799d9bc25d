#pragma once
// The keys under which a set of tf.Examples keeps images and labels: those that a path wishes for, else the usual names,
// else the only ones that can be told. Values.

#include <optional>
#include <string>

#include "formats/base/bytes.h"
#include "formats/containers/wishes.h"

namespace feedrate::formats {

struct ExampleKeys {
  std::string image;
  std::string label;
  std::optional<Shape> shape;  // of raw pixels, where the path states it

  /// The label is one of each object in the image, as the Object Detection API writes it: the first counts.
  bool of_objects() const { return label.starts_with("image/object/"); }
};

/// What a path to TFRecords may wish for.
inline constexpr Wish example_wishes[] = {Wish::image, Wish::label, Wish::shape};

/// The keys of a set that `example` is of. Throws Error for bytes that are not an Example, and, with the keys that there
/// are, where an image or a label is missing or cannot be told.
ExampleKeys choose_example_keys(Bytes example, const Wishes& wishes);

}  // namespace feedrate::formats
