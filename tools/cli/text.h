#pragma once
// Numbers as people read them. Pure functions.

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/base/text.h"  // grouped
#include "formats/pixels/image.h"

namespace feedrate::tools {

/// A rate or another positive quantity, to three digits or more: 6123.7 → "6,124", 9.87 → "9.87".
std::string quantity(double value);
/// 1536 → "1.5 KiB".
std::string bytes_text(std::uint64_t bytes);
/// 0.0042 → "4.2 ms", 83.2 → "83.2 s", 4000 → "1:06:40 h".
std::string duration_text(double seconds);
/// Height × width × channels: "28 × 28 × 1".
std::string shape_text(formats::Shape shape);
/// "1 thread", "2 threads".
std::string counted(std::uint64_t number, std::string_view singular);
/// As a shell takes it for the word again, in quotes where it needs them.
std::string shell_word(const std::string& word);
/// `text` with U+FFFD for bytes that are no UTF-8, as JSON is written; file names may hold any.
std::string as_utf8(std::string_view text);
/// A text of the JSON library's exceptions without its own prefix, which tells a user nothing:
/// "[json.exception.parse_error.101] parse error at …".
std::string_view without_prefix(std::string_view json_problem);
/// To `digits` places: 3.14159, 2 → 3.14.
double rounded(double value, int digits);

}  // namespace feedrate::tools
