#pragma once
// Finds the tars of a dataset: one file, a brace pattern as the webdataset library writes it, or those in a directory.

#include <filesystem>
#include <string_view>
#include <vector>

namespace feedrate::formats {

/// True for ".tar", also ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz" and ".tar.zst".
bool is_tar_name(std::string_view file_name);

/// The tars of the dataset at `path`, as dataset_files() finds them.
std::vector<std::filesystem::path> find_tars(const std::filesystem::path& path);

/// True when the directory holds a tar. Never throws.
bool holds_tars(const std::filesystem::path& directory);

}  // namespace feedrate::formats
