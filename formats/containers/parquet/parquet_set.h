#pragma once
// The files of a Parquet dataset: one, those of a pattern, or a split's shards as the Hub, Spark and DuckDB name them.

#include <filesystem>
#include <vector>

namespace feedrate::formats {

/// True when the directory holds Parquet files.
bool holds_parquet(const std::filesystem::path& directory);

/// The files of the dataset at `path`, in order: a pattern's, all shards of the split that a file is of, or of
/// the only split in a directory. Throws Error naming what is missing, or the splits to choose from.
std::vector<std::filesystem::path> parquet_files(const std::filesystem::path& path);

}  // namespace feedrate::formats
