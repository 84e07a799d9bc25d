#pragma once
// Numbers of things in sentences. Stateless.

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/base/text.h"

namespace feedrate::formats {

/// "1 file is", "1,000 files are", by the words for one and for more.
inline std::string counted_as(std::uint64_t number, std::string_view one, std::string_view more) {
  return grouped(number).append(1, ' ').append(number == 1 ? one : more);
}

}  // namespace feedrate::formats
