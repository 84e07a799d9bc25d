#pragma once
// Pictures made of characters, for a terminal. A column is a character of UTF-8; bars are drawn
// with the block elements, which every terminal's font has. Pure functions.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace feedrate::tools {

/// `value` of `most` as a bar of at most `columns`, in steps of an eighth; what is more than
/// nothing is at least one of them.
std::string bar(std::uint64_t value, std::uint64_t most, std::size_t columns);

/// The values as a line of small columns, `columns` of them at most, each the mean of as many
/// values. The tallest is the largest mean; 0 is blank.
std::string profile(std::span<const std::uint64_t> values, std::size_t columns);

/// Columns that `text` takes.
std::size_t columns_of(std::string_view text);
/// `text` in exactly `columns`: padded, or cut with an ellipsis.
std::string fitted(std::string_view text, std::size_t columns);
/// `text` from a dataset, which may hold anything: what would steer a terminal is made '?'.
std::string harmless(std::string_view text);
/// Lines of at most `columns`, broken at blanks; lines after the first begin with `indent` blanks.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns);

}  // namespace feedrate::tools
