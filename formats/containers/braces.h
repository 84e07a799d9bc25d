#pragma once
// Patterns that name several files, as the shell and the webdataset library write them:
// "train-{000000..000146}.tar", "{a,b}/x-{0..6..2}.rec".

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace feedrate::formats {

/// The names that a pattern stands for, in order, with the last braces running fastest; `pattern` itself
/// when it has no braces. {008..011} are numbers of as many digits as the first, {0..9..3} every third of
/// them, {a,b} names, which may be patterns. A backslash in front of a brace, a comma or a backslash takes it as
/// it is. Throws Error for what is no pattern and for one that stands for too much.
std::vector<std::string> expand_braces(const std::string& pattern);

/// The pattern that stands for these paths.
std::string brace_pattern(std::span<const std::filesystem::path> paths);

/// True when no such file exists and the path has braces.
bool is_brace_pattern(const std::filesystem::path& path);

/// The files of what a pattern names, in order; files_of() gives those of a directory. A file is itself. Throws
/// Error naming what is not there.
std::vector<std::filesystem::path> pattern_files(
    const std::filesystem::path& pattern,
    const std::function<std::vector<std::filesystem::path>(const std::filesystem::path&)>&
        files_of);

/// Whether knows() is true of the first that a pattern names. Never throws.
bool knows_pattern(const std::filesystem::path& pattern,
                   const std::function<bool(const std::filesystem::path&)>& knows);

}  // namespace feedrate::formats
