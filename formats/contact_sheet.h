#pragma once
// A picture of a dataset: its first samples in a grid, labels beside them, for human eyes.

#include "formats/dataset.h"

namespace feedrate {

/// The first `count` samples (or all), each in a cell of its own with its label, `columns` a row.
/// Images larger than 128 pixels are shrunk, tiny ones enlarged by whole factors.
Image contact_sheet(const Dataset& dataset, std::uint64_t count, unsigned columns);

}  // namespace feedrate
