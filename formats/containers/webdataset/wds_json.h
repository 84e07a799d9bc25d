#pragma once
// The .json of a sample: what a tar of samples says beside image and label.
//
//   {"filename": "n01440764/n01440764_10026.JPEG", "synset": "n01440764", "text": "tench, …",
//    "boxes": [[0.1, 0.2, 0.8, 0.9]]}
//
// Classes without texts are "class name" alone. Boxes are xmin, ymin, xmax, ymax in 0 … 1.

#include <cstdint>
#include <optional>
#include <string>

#include "formats/dataset.h"

namespace feedrate::formats {

/// Replaces `json` by what there is to say about the sample; empties it where only its class could
/// be named, which the sidecar does. Bytes that are no UTF-8 become U+FFFD: JSON has no other.
/// Throws Error where a label is infinite or no number, for which JSON has no word at all.
void write_sample_json(const Sample& sample, const ClassNames& classes, std::string& json);

/// Fills name, boxes and labels of `scratch` with "filename", "boxes" and "labels" (each emptied
/// where there is none); returns "label". Boxes of another form are another tool's and passed over.
/// Throws Error when it is no JSON object.
std::optional<std::int64_t> read_sample_json(Bytes json, Scratch& scratch);

}  // namespace feedrate::formats
