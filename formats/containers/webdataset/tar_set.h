#pragma once
// Finds the tars of a dataset: one file, a brace pattern as the webdataset library writes it, or
// those in a directory.
//
//   a/train-{000000..000146}.tar      a/train-000000.tar      a/  (train-000000.tar …)

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate::formats {

/// True for ".tar", also ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz" and ".tar.zst".
bool is_tar_name(std::string_view file_name);

/// The names that a pattern stands for, in order, with the last braces running fastest; `pattern`
/// itself when it has no braces. Throws Error for an invalid range and for one that is too long.
std::vector<std::string> expand_braces(const std::string& pattern);

/// True when no such file exists and the path has braces.
bool is_brace_pattern(const std::filesystem::path& path);

/// The tars of the dataset at `path`, by number. Throws Error naming the directory when it holds
/// tars of several datasets, or when a number is missing or occurs twice.
std::vector<std::filesystem::path> find_tars(const std::filesystem::path& path);

/// True when the directory holds a tar. Never throws.
bool holds_tars(const std::filesystem::path& directory);

}  // namespace feedrate::formats
