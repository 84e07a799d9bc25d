#pragma once
// Numbers and names as text for people. Pure functions.

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/base/text.h"  // grouped
#include "formats/pixels/image.h"

namespace feedrate::tools {

/// A rate or another positive quantity with at least three digits: 6123.7 → "6,124", 9.87 → "9.87".
std::string quantity(double value);
/// 1536 → "1.5 KiB".
std::string bytes_text(std::uint64_t bytes);
/// 0.0042 → "4.2 ms", 83.2 → "83.2 s", 4000 → "1:06:40 h".
std::string duration_text(double seconds);
/// Height × width × channels: "28 × 28 × 1".
std::string shape_text(formats::Shape shape);
/// "1 thread", "2 threads".
std::string counted(std::uint64_t number, std::string_view singular);
/// A sentence's beginning from its middle: "about 9" → "About 9". Of ASCII letters.
std::string capitalized(std::string text);
/// `word` as a shell reads it back, quoted if necessary.
std::string shell_word(const std::string& word);
/// `text` with U+FFFD for bytes that are not UTF-8, as in our JSON. File names may hold any bytes.
std::string as_utf8(std::string_view text);
/// A message of the JSON library without its prefix, which does not help a user:
/// "[json.exception.parse_error.101] parse error at …" → "parse error at …".
std::string_view without_prefix(std::string_view json_problem);
/// Rounds to `digits` decimal places: 3.14159, 2 → 3.14.
double rounded(double value, int digits);

}  // namespace feedrate::tools
