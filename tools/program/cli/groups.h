#pragma once
// The headings under which help shows options. An option of one name means the same in every
// command, so one table serves all.

#include <cstddef>
#include <string_view>

namespace feedrate::tools {

/// Of the options that a command's -h shows.
inline constexpr std::string_view common_group = "Common options";
/// Of all options of a small command, but for those of servers.
inline constexpr std::string_view only_group = "Options";
inline constexpr std::string_view server_group = "Servers";
inline constexpr std::string_view help_group = "Help";

/// The heading of an option or argument: "--batch", "PATH".
std::string_view group_of(std::string_view name);
/// Where an option stands in help: numbers that grow.
std::size_t place_of_group(std::string_view heading);
std::size_t place_in_group(std::string_view name);

}  // namespace feedrate::tools
