#pragma once
// A picture of a dataset: samples of its classes in a grid, with the names of the classes.

#include <vector>

#include "formats/inspect/survey.h"

namespace feedrate::formats {

/// Samples of one class, by index.
struct SheetClass {
  std::int32_t label = 0;
  std::vector<std::uint64_t> samples;
  bool operator==(const SheetClass&) const = default;
};

/// Chooses about a hundred samples of those in `survey`: some of each class, spread over the
/// dataset. Of more than a hundred classes it takes a hundred, spread over the labels.
std::vector<SheetClass> sheet_classes(const Survey& survey);

/// Draws them, ten in a row. Up to twelve classes get rows of their own; more share rows. Images
/// larger than 128 pixels are shrunk, tiny ones enlarged by whole factors; an image that cannot be
/// decoded becomes a crossed square. Decodes in its own threads. Throws Error if no sample can be
/// read, or no font is installed for the captions.
Image contact_sheet(const Dataset& dataset, const Survey& survey);

}  // namespace feedrate::formats
