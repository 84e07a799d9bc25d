#pragma once
// The text of `feedrate help sources`.

#include <string>

namespace feedrate::tools {

std::string source_help(std::size_t columns);

}  // namespace feedrate::tools
