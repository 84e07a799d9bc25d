#pragma once
// What to say of a plug-in that is not of this build. Stateless; any thread.

#include <string>
#include <string_view>

namespace feedrate::formats {

/// A sentence on the plug-in libfeedrate_<name>.so at `place`, whose ABI text, a version and a space
/// in front, is `found` where `own` is wanted. Empty where they are equal.
std::string other_build(std::string_view place, std::string_view name, std::string_view own,
                        std::string_view found);

}  // namespace feedrate::formats
