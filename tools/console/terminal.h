#pragma once
// What the terminal behind stdout or stderr can show: how wide it is, whether it takes colours, and
// whether it knows more than ASCII. A pipe or a file gets text as it is, without colours.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace feedrate::tools {

bool is_terminal(int stream);

/// The width for running text: COLUMNS if it is set, else that of the terminal, at most 100. 80 for
/// a pipe.
std::size_t text_columns(int stream);
/// The width of the terminal behind `stream`; 80 if unknown.
std::size_t terminal_columns(int stream);

/// `text` as `stream` shows it: control characters other than line ends, tabs and our colours become
/// `\xNN`. On a terminal of a locale other than UTF-8, our lines, bars and signs become ASCII. Other
/// letters, as of a file's name, stay.
std::string shown_on(int stream, std::string_view text);
/// The substitution itself: "28 × 28" → "28 x 28".
std::string as_ascii(std::string_view text);

enum class Colour : std::uint8_t { red, yellow, cyan };
/// `text` in a colour, if `stream` is a terminal that takes colours: TERM is set and not "dumb", and
/// NO_COLOR (no-color.org) is empty or unset.
std::string painted(int stream, Colour colour, std::string_view text);

}  // namespace feedrate::tools
