#pragma once
// Why something failed, in words for users, where a library has thrown an exception of its own. Any
// thread.

#include <exception>
#include <string>

namespace feedrate::formats {

/// Of an Error, its text. Of another exception, the file or the limit that the library ran into.
std::string reason_of(const std::exception& error);

}  // namespace feedrate::formats
