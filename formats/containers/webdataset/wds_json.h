#pragma once
// The .json of a sample: what a tar of samples holds besides image and label.
//
//   {"filename": "n01440764/n01440764_10026.JPEG", "synset": "n01440764", "text": "tench, …",
//    "boxes": [[0.1, 0.2, 0.8, 0.9]]}
//
// Classes without texts have only "class name". Boxes are xmin, ymin, xmax, ymax in 0 … 1.

#include <cstdint>
#include <optional>
#include <string>

#include "formats/dataset.h"

namespace feedrate::formats {

/// Replaces `json` by the sample's metadata; empties it where that would only be the class name,
/// which the sidecar has. Bytes that are not UTF-8 become U+FFFD, as JSON requires. Throws Error
/// for an infinite or NaN label, which JSON cannot express.
void write_sample_json(const Sample& sample, const ClassNames& classes, std::string& json);

struct SampleJson {
  std::optional<std::int64_t> label;  // a whole number, 3, 3.0 or "3"
  std::string label_text;             // where it is text
  std::uint32_t boxes_left_out = 0;   // "boxes" that are none, such as other tools write
};

/// Fills name, boxes and labels of `scratch` with "filename", "boxes" and "labels" (each is emptied
/// when missing). `label` is the key of the label. Throws Error when `json` is not a JSON object.
SampleJson read_sample_json(Bytes json, std::string_view label, Scratch& scratch);

}  // namespace feedrate::formats
