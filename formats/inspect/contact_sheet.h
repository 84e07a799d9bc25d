#pragma once
// A picture of a dataset for human eyes: samples of all its classes in a grid, with their names.

#include <vector>

#include "formats/inspect/survey.h"

namespace feedrate::formats {

/// Samples of one class, by index.
struct SheetClass {
  std::int32_t label = 0;
  std::vector<std::uint64_t> samples;
  bool operator==(const SheetClass&) const = default;
};

/// Which samples show a dataset: of all those that `survey` looked at, some of each class, spread
/// over the dataset, about a hundred in all. Of more than a hundred classes a hundred are there,
/// spread over the labels.
std::vector<SheetClass> sheet_classes(const Survey& survey);

/// Draws them, ten in a row: up to twelve classes in rows of their own, more of them one after the
/// other. Images beyond 128 pixels are shrunk, tiny ones enlarged by whole factors; what cannot be
/// decoded is a crossed square. Decodes in threads of its own. Throws Error if no sample can be
/// read, or no font is installed for the captions.
Image contact_sheet(const Dataset& dataset, const Survey& survey);

}  // namespace feedrate::formats
