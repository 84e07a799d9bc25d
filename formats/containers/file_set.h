#pragma once
// The files of a dataset, found by their names: those of a pattern, the shards that one of them names, the only set in a
// directory.
//
//   train-00000-of-00004 …   train-000000.tar …   data_0.parquet …   00-192x192-798.tfrec …   part-00000-5b8c….parquet …

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate::formats {

/// How a container names its files.
struct FileNames {
  std::string_view what;                      // for people: "tar"
  std::span<const std::string_view> endings;  // ".tar.gz" before ".gz"
  bool is_own(std::string_view name) const;
  bool (*is_shard)(std::string_view name) = nullptr;  // of "-of-" names; null: those with an ending
};

/// Files of one name but for a number, by that number.
struct NumberedSet {
  std::string shown;  // "train-{000000..000003}.tar"
  std::vector<std::filesystem::path> files;
  std::string problem;  // empty, or why it is no whole set: a number is missing, or there twice
};

/// The files as sets. The number stands in front of the ending. Where that makes no set of them, it may begin the
/// name, alone or behind "part-", while other numbers in the name may differ. A file without a number is a set.
std::vector<NumberedSet> numbered_sets(std::vector<std::filesystem::path> files,
                                       std::span<const std::string_view> endings);

/// The files of the dataset at `path`: what a pattern names; all shards, where it is one of them and they are there or a
/// sidecar says that they were; a file; the only set of a directory. Throws Error naming the directory
/// where it holds several sets, or not all of one.
std::vector<std::filesystem::path> dataset_files(const std::filesystem::path& path,
                                                 const FileNames& names);

/// True when the directory holds a file of such a name. Never throws.
bool holds_files(const std::filesystem::path& directory, const FileNames& names);

}  // namespace feedrate::formats
