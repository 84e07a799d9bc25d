#pragma once
// Which directory a class has in a folder that Feedrate writes, and which class a directory is.
//
// A directory has the name of its class if all names are plain file names in ascending order, so
// that sorting the directories gives the labels; else the label in five digits. A class without
// images has none: ImageFolder refuses empty directories.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace feedrate::formats {

inline constexpr std::int32_t max_folder_label = 99'999;   // five digits
inline constexpr std::size_t max_folder_name_bytes = 255;  // limit of file systems

/// True for what can be the name of a file or directory, and one line of a list.
bool is_plain_name(std::string_view name);
/// True if classes with these names have directories of these names.
bool can_be_directories(const std::vector<std::string>& names);
/// Five digits for a label from 0 to max_folder_label.
std::string numbered_directory(std::int32_t label);

/// The label of each of `directories`, which are sorted, in a folder that Feedrate wrote with these
/// class names (empty if there are none): by name, by number, or by position if no class lacks a
/// directory. Nothing if they are not the directories of these classes.
std::optional<std::vector<std::int32_t>> labels_of_directories(
    const std::vector<std::string>& directories, const std::vector<std::string>& names);

}  // namespace feedrate::formats
