#include "formats/base/utf8.h"

#include <nlohmann/json.hpp>

namespace feedrate::formats {

bool is_utf8(std::string_view text) {
  try {
    return !nlohmann::json(text).dump().empty();
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

}  // namespace feedrate::formats
