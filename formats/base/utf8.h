#pragma once
// Whether text is UTF-8, as JSON and other tools' lists of classes need it. Stateless.

#include <string_view>

namespace feedrate::formats {

/// False for bytes that encode no character of Unicode: half a character, a surrogate, a longer form than
/// needed.
bool is_utf8(std::string_view text);

}  // namespace feedrate::formats
