#pragma once
// What bench needs to know about its datasets, and checks that they can be measured as asked.

#include "tools/lab/bench/plan.h"

namespace feedrate::tools {

/// Each dataset once, as it was first mentioned: `d/test/`, `./d/test` and a link to it are `d/test`.
std::vector<std::filesystem::path> without_repeats(const std::vector<std::filesystem::path>& paths);

/// Opens the dataset and describes it; the digest is "" when there is no sidecar with one.
BenchDataset describe_dataset(const std::filesystem::path& path);

/// Computes missing digests by reading every image of those datasets. Throws Error on damage.
void find_digests(std::vector<BenchDataset>& datasets);

/// Reads the datasets of warm points into memory, as far as they are files of this machine.
void make_warm(std::span<const BenchPoint> points);

/// Throws Misused when a device is to decode, and there is none or a recipe works on pixels.
void check_decodes(const BenchOptions& options);
/// Throws Misused when compute threads are asked for, and no CPU trains.
void check_compute_threads(const BenchOptions& options);

/// Throws Error when a recipe does not suit a dataset, a network does not take its images, or a
/// device is not usable here or lacks a precision, so that a long bench fails at once.
void check_points(const std::vector<BenchPoint>& points, const std::vector<BenchDataset>& datasets);

}  // namespace feedrate::tools
