#pragma once
// Measuring from the disk: evicts a dataset from the page cache first.

namespace feedrate::formats {
class Dataset;
}

namespace feedrate::tools {

/// The largest share of a dataset that may be in memory when a run counts as cold.
inline constexpr double cold_share = 0.05;

/// Evicts the dataset's files from the page cache, also what opening them has read. Returns the
/// share that stays in memory, and warns when it exceeds cold_share.
double make_cold(const formats::Dataset& dataset);

}  // namespace feedrate::tools
