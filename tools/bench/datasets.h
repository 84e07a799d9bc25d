#pragma once
// What bench needs to know of its datasets, and whether what it was asked can be done with them.

#include "tools/bench/plan.h"

namespace feedrate::tools {

/// Each once, as it is named first: `d/test/` is `d/test`.
std::vector<std::filesystem::path> without_repeats(const std::vector<std::filesystem::path>& paths);

/// Opens it; its digest is "" where no sidecar tells it.
BenchDataset look_at(const std::filesystem::path& path);

/// Reads every image of those whose digest is not known, once. Throws Error on damage.
void find_digests(std::vector<BenchDataset>& datasets);

/// Throws Error when there is no tool, recipe, network or device of a name.
void check_names(const BenchOptions& options);

/// Throws Error when a recipe does not suit a dataset, a network does not take its images, or a
/// device cannot be used here or does not compute in a precision: before the first minute of
/// measuring, not after it.
void check_points(const std::vector<BenchPoint>& points, const std::vector<BenchDataset>& datasets);

}  // namespace feedrate::tools
