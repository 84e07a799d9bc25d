#pragma once
// Bars and columns of text for a terminal. A column is one UTF-8 character; bars are drawn with
// block elements, which every terminal font has. Pure functions.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace feedrate::tools {

/// A bar that shows `value` as a share of `largest`, at most `columns` long, in steps of an eighth
/// of a column. A value above 0 gets at least one eighth.
std::string bar(std::uint64_t value, std::uint64_t largest, std::size_t columns);

/// The values as a line of at most `columns` small vertical bars. Each shows the mean of a run of
/// values; the largest mean is the tallest bar, and a mean of 0 is blank.
std::string profile(std::span<const std::uint64_t> values, std::size_t columns);

/// The number of columns that `text` takes.
std::size_t columns_of(std::string_view text);
/// `text` in exactly `columns` columns: padded, or cut with an ellipsis.
std::string fitted(std::string_view text, std::size_t columns);
/// The same, but cut in the middle: names often differ at their end.
std::string fitted_name(std::string_view name, std::size_t columns);
/// `text` with '?' for control characters: text from a dataset must not steer the terminal.
std::string harmless(std::string_view text);
/// Breaks `text` at blanks into lines of at most `columns`; lines after the first begin with
/// `indent` blanks. A longer word stays whole.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t columns);

}  // namespace feedrate::tools
