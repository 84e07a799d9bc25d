#include "formats/base/error.h"

#include <cerrno>
#include <system_error>

namespace feedrate::formats {

void fail_errno(const std::filesystem::path& where, std::string_view what, int error_number) {
  fail(where, what, ": ", std::generic_category().message(error_number));
}

}  // namespace feedrate::formats
