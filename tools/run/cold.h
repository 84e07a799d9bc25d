#pragma once
// Measuring from the disk: what the system remembers of a dataset is forgotten first.

namespace feedrate::formats {
class Dataset;
}

namespace feedrate::tools {

/// Of a dataset no more may be in memory for a run to be called cold without a warning.
inline constexpr double cold_share = 0.05;

/// Has the system forget the dataset's files, what opening has read of them too. Returns the share
/// of them that is in memory all the same, and warns where that is much.
double make_cold(const formats::Dataset& dataset);

}  // namespace feedrate::tools
