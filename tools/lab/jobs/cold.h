#pragma once
// Measuring from the disk or from memory: evicts a dataset from the page cache first, or reads it into it.

namespace feedrate::formats {
class Dataset;
}

namespace feedrate::tools {

/// The largest share of a dataset that may be in memory when a run counts as cold.
inline constexpr double cold_share = 0.05;

/// Evicts the dataset's files from the page cache, also what opening them has read. Returns the
/// share that stays in memory, and warns when it exceeds cold_share.
double make_cold(const formats::Dataset& dataset);

/// Reads the dataset's files into the page cache, unless they are there, and says so. Stops after about a
/// minute. Warns when more than cold_share of the dataset is still missing then. A dataset that is larger than
/// the memory is not read, with a warning; neither is one on a server.
void make_warm(const formats::Dataset& dataset);

}  // namespace feedrate::tools
